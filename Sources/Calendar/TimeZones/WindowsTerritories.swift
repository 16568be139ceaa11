// SPDX-License-Identifier: Apache-2.0

/// The IANA zones that Windows' names mean in single territories, besides the one they mean in general.
///
/// Derived from windowsZones.xml of Unicode CLDR 41, copyright 1991-2013 Unicode, Inc., under the Unicode License v3
/// (https://www.unicode.org/license.txt).
package enum WindowsTerritories {
    /// Whether a Windows name means a zone in some territory: `W. Europe Standard Time` means Vienna's zone in Austria.
    package static func does(_ name: String, mean identifier: String) -> Bool {
        zones[name.lowercased()]?.contains(identifier) ?? false
    }

    private static let zones: [ByteString: Set<ByteString>] = {
        var found: [ByteString: Set<ByteString>] = [:]
        var name = ""
        for line in table.split(separator: "\n") {
            if line.first?.is("=") == true {
                name = line.dropFirst().lowercased()
            } else {
                found[name, default: []].formUnion(line.split(separator: " ").map { ByteString($0) })
            }
        }
        return found
    }()

    /// Each Windows name after `=`, then its ids.
    private static let table = """
        =UTC-11
        Pacific/Pago_Pago Pacific/Niue Pacific/Midway
        =Hawaiian Standard Time
        Pacific/Rarotonga Pacific/Tahiti Pacific/Johnston Etc/GMT+10
        =Alaskan Standard Time
        America/Juneau America/Metlakatla America/Nome America/Sitka America/Yakutat
        =UTC-09
        Pacific/Gambier
        =Pacific Standard Time (Mexico)
        America/Santa_Isabel
        =UTC-08
        Pacific/Pitcairn
        =Pacific Standard Time
        America/Vancouver PST8PDT
        =US Mountain Standard Time
        America/Creston America/Dawson_Creek America/Fort_Nelson America/Hermosillo Etc/GMT+7
        =Mountain Standard Time (Mexico)
        America/Mazatlan
        =Mountain Standard Time
        America/Edmonton America/Cambridge_Bay America/Inuvik America/Yellowknife America/Ojinaga America/Boise
        MST7MDT
        =Yukon Standard Time
        America/Dawson
        =Central America Standard Time
        America/Belize America/Costa_Rica Pacific/Galapagos America/Tegucigalpa America/Managua America/El_Salvador
        Etc/GMT+6
        =Central Standard Time
        America/Winnipeg America/Rainy_River America/Rankin_Inlet America/Resolute America/Matamoros
        America/Indiana/Knox America/Indiana/Tell_City America/Menominee America/North_Dakota/Beulah
        America/North_Dakota/Center America/North_Dakota/New_Salem CST6CDT
        =Central Standard Time (Mexico)
        America/Bahia_Banderas America/Merida America/Monterrey
        =Canada Central Standard Time
        America/Swift_Current
        =SA Pacific Standard Time
        America/Rio_Branco America/Eirunepe America/Coral_Harbour America/Guayaquil America/Jamaica America/Cayman
        America/Panama America/Lima Etc/GMT+5
        =Eastern Standard Time
        America/Nassau America/Toronto America/Iqaluit America/Montreal America/Nipigon America/Pangnirtung
        America/Thunder_Bay America/Detroit America/Indiana/Petersburg America/Indiana/Vincennes
        America/Indiana/Winamac America/Kentucky/Monticello America/Louisville EST5EDT
        =US Eastern Standard Time
        America/Indiana/Marengo America/Indiana/Vevay
        =Atlantic Standard Time
        Atlantic/Bermuda America/Glace_Bay America/Goose_Bay America/Moncton America/Thule
        =Central Brazilian Standard Time
        America/Campo_Grande
        =SA Western Standard Time
        America/Antigua America/Anguilla America/Aruba America/Barbados America/St_Barthelemy America/Kralendijk
        America/Manaus America/Boa_Vista America/Porto_Velho America/Blanc-Sablon America/Curacao America/Dominica
        America/Santo_Domingo America/Grenada America/Guadeloupe America/Guyana America/St_Kitts America/St_Lucia
        America/Marigot America/Martinique America/Montserrat America/Puerto_Rico America/Lower_Princes
        America/Port_of_Spain America/St_Vincent America/Tortola America/St_Thomas Etc/GMT+4
        =SA Eastern Standard Time
        Antarctica/Rothera Antarctica/Palmer America/Fortaleza America/Belem America/Maceio America/Recife
        America/Santarem Atlantic/Stanley America/Paramaribo Etc/GMT+3
        =Argentina Standard Time
        America/Argentina/La_Rioja America/Argentina/Rio_Gallegos America/Argentina/Salta America/Argentina/San_Juan
        America/Argentina/San_Luis America/Argentina/Tucuman America/Argentina/Ushuaia America/Catamarca
        America/Cordoba America/Jujuy America/Mendoza
        =UTC-02
        America/Noronha Atlantic/South_Georgia
        =Azores Standard Time
        America/Scoresbysund
        =Cape Verde Standard Time
        Etc/GMT+1
        =UTC
        Etc/GMT
        =GMT Standard Time
        Atlantic/Canary Atlantic/Faeroe Europe/Guernsey Europe/Dublin Europe/Isle_of_Man Europe/Jersey Europe/Lisbon
        Atlantic/Madeira
        =Greenwich Standard Time
        Africa/Ouagadougou Africa/Abidjan Africa/Accra America/Danmarkshavn Africa/Banjul Africa/Conakry
        Africa/Bissau Africa/Monrovia Africa/Bamako Africa/Nouakchott Atlantic/St_Helena Africa/Freetown
        Africa/Dakar Africa/Lome
        =Morocco Standard Time
        Africa/El_Aaiun
        =W. Europe Standard Time
        Europe/Andorra Europe/Vienna Europe/Zurich Europe/Busingen Europe/Gibraltar Europe/Rome Europe/Vaduz
        Europe/Luxembourg Europe/Monaco Europe/Malta Europe/Amsterdam Europe/Oslo Europe/Stockholm
        Arctic/Longyearbyen Europe/San_Marino Europe/Vatican
        =Central Europe Standard Time
        Europe/Tirane Europe/Prague Europe/Podgorica Europe/Belgrade Europe/Ljubljana Europe/Bratislava
        =Romance Standard Time
        Europe/Brussels Europe/Copenhagen Europe/Madrid Africa/Ceuta
        =Central European Standard Time
        Europe/Sarajevo Europe/Zagreb Europe/Skopje
        =W. Central Africa Standard Time
        Africa/Luanda Africa/Porto-Novo Africa/Kinshasa Africa/Bangui Africa/Brazzaville Africa/Douala
        Africa/Algiers Africa/Libreville Africa/Malabo Africa/Niamey Africa/Ndjamena Africa/Tunis Etc/GMT-1
        =GTB Standard Time
        Asia/Nicosia Asia/Famagusta Europe/Athens
        =West Bank Standard Time
        Asia/Gaza
        =South Africa Standard Time
        Africa/Bujumbura Africa/Gaborone Africa/Lubumbashi Africa/Maseru Africa/Blantyre Africa/Maputo Africa/Kigali
        Africa/Mbabane Africa/Lusaka Africa/Harare Etc/GMT-2
        =FLE Standard Time
        Europe/Mariehamn Europe/Sofia Europe/Tallinn Europe/Helsinki Europe/Vilnius Europe/Riga Europe/Uzhgorod
        Europe/Zaporozhye
        =Arab Standard Time
        Asia/Bahrain Asia/Kuwait Asia/Qatar Asia/Aden
        =Russian Standard Time
        Europe/Kirov Europe/Simferopol
        =E. Africa Standard Time
        Antarctica/Syowa Africa/Djibouti Africa/Asmera Africa/Addis_Ababa Indian/Comoro Indian/Antananarivo
        Africa/Mogadishu Africa/Dar_es_Salaam Africa/Kampala Indian/Mayotte Etc/GMT-3
        =Arabian Standard Time
        Asia/Muscat Etc/GMT-4
        =Astrakhan Standard Time
        Europe/Ulyanovsk
        =Mauritius Standard Time
        Indian/Reunion Indian/Mahe
        =West Asia Standard Time
        Antarctica/Mawson Asia/Oral Asia/Aqtau Asia/Aqtobe Asia/Atyrau Indian/Maldives Indian/Kerguelen
        Asia/Dushanbe Asia/Ashgabat Asia/Samarkand Etc/GMT-5
        =Central Asia Standard Time
        Antarctica/Vostok Asia/Urumqi Indian/Chagos Asia/Bishkek Asia/Qostanay Etc/GMT-6
        =Bangladesh Standard Time
        Asia/Thimphu
        =Myanmar Standard Time
        Indian/Cocos
        =SE Asia Standard Time
        Antarctica/Davis Indian/Christmas Asia/Jakarta Asia/Pontianak Asia/Phnom_Penh Asia/Vientiane Asia/Saigon
        Etc/GMT-7
        =North Asia Standard Time
        Asia/Novokuznetsk
        =China Standard Time
        Asia/Hong_Kong Asia/Macau
        =Singapore Standard Time
        Asia/Brunei Asia/Makassar Asia/Kuala_Lumpur Asia/Kuching Asia/Manila Etc/GMT-8
        =Ulaanbaatar Standard Time
        Asia/Choibalsan
        =Tokyo Standard Time
        Asia/Jayapura Pacific/Palau Asia/Dili Etc/GMT-9
        =Yakutsk Standard Time
        Asia/Khandyga
        =Cen. Australia Standard Time
        Australia/Broken_Hill
        =E. Australia Standard Time
        Australia/Lindeman
        =AUS Eastern Standard Time
        Australia/Melbourne
        =West Pacific Standard Time
        Antarctica/DumontDUrville Pacific/Truk Pacific/Guam Pacific/Saipan Etc/GMT-10
        =Tasmania Standard Time
        Australia/Currie Antarctica/Macquarie
        =Vladivostok Standard Time
        Asia/Ust-Nera
        =Central Pacific Standard Time
        Antarctica/Casey Pacific/Ponape Pacific/Kosrae Pacific/Noumea Pacific/Efate Etc/GMT-11
        =Russia Time Zone 11
        Asia/Anadyr
        =New Zealand Standard Time
        Antarctica/McMurdo
        =UTC+12
        Pacific/Tarawa Pacific/Majuro Pacific/Kwajalein Pacific/Nauru Pacific/Funafuti Pacific/Wake Pacific/Wallis
        =UTC+13
        Pacific/Enderbury Pacific/Fakaofo
        =Line Islands Standard Time
        Etc/GMT-14
        """
}
