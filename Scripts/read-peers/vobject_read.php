<?php
// SPDX-License-Identifier: Apache-2.0
// Reads a calendar file with PHP's sabre/vobject and says how long that took. Usage: vobject_read.php FILE.ics
// The library is the one whose autoload.php KALENDS_VOBJECT names, or Debian's php-sabre-vobject.

error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('memory_limit', '-1');
require getenv('KALENDS_VOBJECT') ?: '/usr/share/php/Sabre/VObject/autoload.php';

$text = file_get_contents($argv[1]);
$start = microtime(true);
$calendar = Sabre\VObject\Reader::read($text, Sabre\VObject\Reader::OPTION_FORGIVING);
$count = 0;
foreach ($calendar->select('VEVENT') as $event) {
    // Values are made when they are asked for.
    if ($event->DTSTART->getDateTime() && (string) $event->SUMMARY) $count++;
}
printf("%-58s%.0f ms\n", 'sabre/vobject ' . Sabre\VObject\Version::VERSION . ": $count events with their starts",
    (microtime(true) - $start) * 1000);
