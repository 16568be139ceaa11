<?php
// SPDX-License-Identifier: Apache-2.0
// Builds a calendar with PHP's sabre/vobject, which Nextcloud writes with, and says how long that took.
//
// Usage: vobject_render.php EVENTS.json [OUTPUT.ics [ROUNDS]]
//
// The file and the line of JSON that is printed are those of icalendar_render.py. The library is the one that
// KALENDS_VOBJECT names (its folder, or the autoload.php of a composer project), or Debian's php-sabre-vobject.

use Sabre\VObject\Component;
use Sabre\VObject\Component\VCalendar;
use Sabre\VObject\Property;
use Sabre\VObject\Version;

error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('memory_limit', '-1');

$place = getenv('KALENDS_VOBJECT') ?: '/usr/share/php/Sabre/VObject/autoload.php';
if (is_dir("$place/lib")) {
    spl_autoload_register(function (string $class) use ($place) {
        if (str_starts_with($class, 'Sabre\\VObject\\')) {
            $file = "$place/lib/" . str_replace('\\', '/', substr($class, 14)) . '.php';
            if (is_file($file)) require $file;
        }
    });
} else {
    require $place;
}
// Version 4 can write XML too; without sabre/xml the name of its interface is enough.
interface NoXML
{
}
if (!interface_exists('Sabre\\Xml\\XmlSerializable')) class_alias('NoXML', 'Sabre\\Xml\\XmlSerializable');
$isOld = version_compare(Version::VERSION, '3', '<');

// Version 2, Debian's, leaves commas and semicolons of a text as they are: the same bytes need a class for it.
if ($isOld) {
    class EscapedText extends Property
    {
        public function serialize()
        {
            $plain = $this->value;
            // Only what stands before the escape, because the parent doubles each backslash.
            $this->value = strtr($plain, [',' => "\x01,", ';' => "\x01;"]);
            // A fold may stand between the two octets, so the line is made and folded again.
            $line = str_replace("\r\n ", '', parent::serialize());
            $this->value = $plain;
            return self::folded(str_replace("\x01", '\\', rtrim($line, "\r\n")));
        }

        private static function folded(string $line): string
        {
            $out = '';
            while (strlen($line) > 75) {
                $part = mb_strcut($line, 0, 75, 'utf-8');
                $out .= $part . "\r\n";
                $line = ' ' . substr($line, strlen($part));
            }
            return $out . $line . "\r\n";
        }
    }
    foreach (['SUMMARY', 'DESCRIPTION', 'LOCATION', 'NAME', 'X-WR-CALNAME', 'X-WR-CALDESC'] as $name) {
        Property::$classMap[$name] = 'EscapedText';
    }
}

function built(array $data, bool $isOld)
{
    $calendar = $isOld ? new VCalendar() : new VCalendar([], false);
    // Version 4 would add a UID and the time of day otherwise.
    $made = fn (string $name) => $isOld ? Component::create($name) : $calendar->createComponent($name, null, false);
    foreach ($data['calendar'] as $line) {
        $calendar->add($line[0], $line[1], $line[2] ?? []);
    }
    foreach ($data['timezones'] as $zone) {
        $timezone = $made('VTIMEZONE');
        $timezone->add('TZID', $zone['tzid']);
        foreach ($zone['observances'] as $part) {
            $observance = $made($part['daylight'] ? 'DAYLIGHT' : 'STANDARD');
            $observance->add('DTSTART', $part['dtstart']);
            if ($part['rrule'] ?? null) $observance->add('RRULE', $part['rrule']);
            foreach ($part['rdates'] ?? [] as $date) $observance->add('RDATE', $date);
            $observance->add('TZOFFSETFROM', $part['from']);
            $observance->add('TZOFFSETTO', $part['to']);
            $observance->add('TZNAME', $part['name']);
            $timezone->add($observance);
        }
        $calendar->add($timezone);
    }
    foreach ($data['events'] as $item) {
        $event = $made('VEVENT');
        $event->add('UID', $item['uid']);
        $event->add('DTSTAMP', $item['dtstamp']);
        $zone = isset($item['tzid']) ? ['TZID' => $item['tzid']] : [];
        if (strlen($item['start']) == 8) $zone = ['VALUE' => 'DATE'];
        $event->add('DTSTART', $item['start'], $zone);
        $event->add('DTEND', $item['end'], $zone);
        $event->add('SUMMARY', $item['summary']);
        if (isset($item['description'])) $event->add('DESCRIPTION', $item['description']);
        if (isset($item['location'])) $event->add('LOCATION', $item['location']);
        if (isset($item['url'])) $event->add('URL', $item['url']);
        $event->add('STATUS', $item['status']);
        $event->add('TRANSP', $item['transp']);
        $event->add('CATEGORIES', $isOld ? implode(',', $item['categories']) : $item['categories']);
        $event->add('SEQUENCE', (string) $item['sequence']);
        $event->add('CREATED', $item['created']);
        $event->add('LAST-MODIFIED', $item['lastModified']);
        $event->add('X-MICROSOFT-CDO-BUSYSTATUS', $item['busystatus']);
        foreach ($item['alarms'] as $minutes) {
            $alarm = $made('VALARM');
            $alarm->add('ACTION', 'DISPLAY');
            $alarm->add('TRIGGER', before($minutes));
            $alarm->add('DESCRIPTION', $item['summary']);
            $event->add($alarm);
        }
        $calendar->add($event);
    }
    return $calendar;
}

// Minutes as Kalends writes them: -PT15M, -PT24H, -PT1H30M.
function before(int $minutes): string
{
    if ($minutes == 0) return 'PT0S';
    $hours = intdiv($minutes, 60);
    return '-PT' . ($hours ? $hours . 'H' : '') . ($minutes % 60 ? ($minutes % 60) . 'M' : '');
}

$data = json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR);
$rounds = (int) ($argv[3] ?? 3);
$whole = $writing = INF;
for ($round = 0; $round < $rounds; $round++) {
    $calendar = null;
    $start = hrtime(true);
    $calendar = built($data, $isOld);
    $middle = hrtime(true);
    $text = $calendar->serialize();
    $end = hrtime(true);
    $whole = min($whole, $end - $start);
    $writing = min($writing, $end - $middle);
}
if (isset($argv[2])) file_put_contents($argv[2], $text);
echo json_encode([
    'library' => 'sabre/vobject',
    'version' => Version::VERSION,
    'bytes' => strlen($text),
    'buildAndWriteMilliseconds' => round($whole / 1e6, 1),
    'writeMilliseconds' => round($writing / 1e6, 1),
]), "\n";
