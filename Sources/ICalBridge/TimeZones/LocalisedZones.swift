// SPDX-License-Identifier: Apache-2.0

/// Names of time zones as programs in other languages write them: `Mitteleuropäische Zeit`, `heure d’Europe centrale`.
///
/// Made from the long names of Unicode CLDR's metazones in 17 languages, as Babel 2.16 has them, copyright Unicode, Inc.,
/// under the Unicode License v3 (https://www.unicode.org/license.txt). A name of several zones stands for the largest.
enum LocalisedZones {
    /// The IANA id of a name in any letters, nil when it is none.
    static func identifier(_ name: String) -> String? { byName[plain(name)] }

    private static let byName: [String: String] = {
        var found: [String: String] = [:]
        var zone = ""
        for line in table.split(separator: "\n") {
            if line.first == "=" { zone = String(line.dropFirst()) } else { found[plain(line)] = zone }
        }
        return found
    }()

    private static func plain(_ name: some StringProtocol) -> String {
        String(name.lowercased().map { $0 == "\u{2019}" ? "'" : $0 == "\u{A0}" ? " " : $0 })
    }

    /// An id behind `=`, then its names.
    private static let table = """
        =Europe/Berlin
        centraleuropeisk normaltid
        centraleuropeisk sommartid
        centraleuropeisk tid
        centraleuropæisk normaltid
        centraleuropæisk sommertid
        centraleuropæisk tid
        czas środkowoeuropejski
        czas środkowoeuropejski letni
        czas środkowoeuropejski standardowy
        heure d’europe centrale
        heure d’été d’europe centrale
        heure normale d’europe centrale
        hora de europa central
        hora de verano de europa central
        hora estándar de europa central
        horário da europa central
        horário de verão da europa central
        horário padrão da europa central
        keski-euroopan aika
        keski-euroopan kesäaika
        keski-euroopan normaaliaika
        közép-európai időzóna
        közép-európai nyári idő
        közép-európai téli idő
        midden-europese standaardtijd
        midden-europese tijd
        midden-europese zomertijd
        mitteleuropäische normalzeit
        mitteleuropäische sommerzeit
        mitteleuropäische zeit
        ora dell’europa centrale
        ora legale dell’europa centrale
        ora standard dell’europa centrale
        sentraleuropeisk normaltid
        sentraleuropeisk sommertid
        sentraleuropeisk tid
        středoevropský letní čas
        středoevropský standardní čas
        středoevropský čas
        центральная европа
        центральная европа, летнее время
        центральная европа, стандартное время
        中央ヨーロッパ夏時間
        中央ヨーロッパ時間
        中央ヨーロッパ標準時
        中欧夏令时间
        中欧时间
        中欧标准时间
        중부유럽 시간
        중부유럽 표준시
        중부유럽 하계 표준시
        =Europe/Athens
        czas wschodnioeuropejski
        czas wschodnioeuropejski letni
        czas wschodnioeuropejski standardowy
        heure d’europe de l’est
        heure d’été d’europe de l’est
        heure normale d’europe de l’est
        hora de europa oriental
        hora de verano de europa oriental
        hora estándar de europa oriental
        horário da europa oriental
        horário de verão da europa oriental
        horário padrão da europa oriental
        itä-euroopan aika
        itä-euroopan kesäaika
        itä-euroopan normaaliaika
        kelet-európai időzóna
        kelet-európai nyári idő
        kelet-európai téli idő
        oost-europese standaardtijd
        oost-europese tijd
        oost-europese zomertijd
        ora dell’europa orientale
        ora legale dell’europa orientale
        ora standard dell’europa orientale
        osteuropäische normalzeit
        osteuropäische sommerzeit
        osteuropäische zeit
        východoevropský letní čas
        východoevropský standardní čas
        východoevropský čas
        östeuropeisk normaltid
        östeuropeisk sommartid
        östeuropeisk tid
        østeuropeisk normaltid
        østeuropeisk sommertid
        østeuropeisk tid
        østeuropæisk normaltid
        østeuropæisk sommertid
        østeuropæisk tid
        восточная европа
        восточная европа, летнее время
        восточная европа, стандартное время
        东欧夏令时间
        东欧时间
        东欧标准时间
        東ヨーロッパ夏時間
        東ヨーロッパ時間
        東ヨーロッパ標準時
        동유럽 시간
        동유럽 표준시
        동유럽 하계 표준시
        =Europe/Lisbon
        czas zachodnioeuropejski
        czas zachodnioeuropejski letni
        czas zachodnioeuropejski standardowy
        heure d’europe de l’ouest
        heure d’été d’europe de l’ouest
        heure normale d’europe de l’ouest
        hora de europa occidental
        hora de verano de europa occidental
        hora estándar de europa occidental
        horário da europa ocidental
        horário de verão da europa ocidental
        horário padrão da europa ocidental
        länsi-euroopan aika
        länsi-euroopan kesäaika
        länsi-euroopan normaaliaika
        nyugat-európai időzóna
        nyugat-európai nyári idő
        nyugat-európai téli idő
        ora dell’europa occidentale
        ora legale dell’europa occidentale
        ora standard dell’europa occidentale
        vesteuropeisk normaltid
        vesteuropeisk sommertid
        vesteuropeisk tid
        vesteuropæisk normaltid
        vesteuropæisk sommertid
        vesteuropæisk tid
        västeuropeisk normaltid
        västeuropeisk sommartid
        västeuropeisk tid
        west-europese standaardtijd
        west-europese tijd
        west-europese zomertijd
        westeuropäische normalzeit
        westeuropäische sommerzeit
        westeuropäische zeit
        západoevropský letní čas
        západoevropský standardní čas
        západoevropský čas
        западная европа
        западная европа, летнее время
        западная европа, стандартное время
        西ヨーロッパ夏時間
        西ヨーロッパ時間
        西ヨーロッパ標準時
        西欧夏令时间
        西欧时间
        西欧标准时间
        서유럽 시간
        서유럽 표준시
        서유럽 하계 표준시
        =Etc/GMT
        czas uniwersalny
        gmt
        greenwich mean time
        greenwich middeltid
        greenwichi középidő, téli idő
        greenwichin normaaliaika
        greenwichský střední čas
        greenwichtid
        heure moyenne de greenwich
        hora del meridiano de greenwich
        horário do meridiano de greenwich
        mittlere greenwich-zeit
        ora del meridiano di greenwich
        среднее время по гринвичу
        グリニッジ標準時
        格林尼治标准时间
        그리니치 표준시
        =Europe/Moscow
        czas moskwa
        heure de moscou
        heure d’été de moscou
        heure normale de moscou
        hora de moscú
        hora de verano de moscú
        hora estándar de moscú
        horário de moscou
        horário de verão de moscou
        horário padrão de moscou
        moskauer normalzeit
        moskauer sommerzeit
        moskauer zeit
        moskevský letní čas
        moskevský standardní čas
        moskevský čas
        moskou-standaardtijd
        moskou-tijd
        moskou-zomertijd
        moskovan aika
        moskovan kesäaika
        moskovan normaaliaika
        moskva, normaltid
        moskva, sommartid
        moskva-normaltid
        moskva-sommertid
        moskva-tid
        moskvatid
        moskwa (czas letni)
        moskwa (czas standardowy)
        moszkvai idő
        moszkvai nyári idő
        moszkvai téli idő
        normaltid for moskva
        ora di mosca
        ora legale di mosca
        ora standard di mosca
        sommertid for moskva
        tidssone for moskva
        москва
        москва, летнее время
        москва, стандартное время
        モスクワ夏時間
        モスクワ時間
        モスクワ標準時
        莫斯科夏令时间
        莫斯科时间
        莫斯科标准时间
        모스크바 시간
        모스크바 표준시
        모스크바 하계 표준시
        =America/New_York
        czas wschodnioamerykański
        czas wschodnioamerykański letni
        czas wschodnioamerykański standardowy
        eastern-normaltid
        eastern-sommertid
        eastern-standaardtijd
        eastern-tid
        eastern-tijd
        eastern-zomertijd
        heure de l’est nord-américain
        heure d’été de l’est nord-américain
        heure normale de l’est nord-américain
        hora de verano oriental
        hora estándar oriental
        hora oriental
        horário de verão do leste
        horário do leste
        horário padrão do leste
        keleti államokbeli idő
        keleti államokbeli nyári idő
        keleti államokbeli zónaidő
        nordamerikanische ostküsten-normalzeit
        nordamerikanische ostküsten-sommerzeit
        nordamerikanische ostküstenzeit
        normaltid for den nordamerikanske østkysten
        ora legale orientale usa
        ora orientale usa
        ora standard orientale usa
        severoamerický východní letní čas
        severoamerický východní standardní čas
        severoamerický východní čas
        sommertid for den nordamerikanske østkysten
        tidssone for den nordamerikanske østkysten
        yhdysvaltain itäinen aika
        yhdysvaltain itäinen kesäaika
        yhdysvaltain itäinen normaaliaika
        östnordamerikansk normaltid
        östnordamerikansk sommartid
        östnordamerikansk tid
        восточная америка
        восточная америка, летнее время
        восточная америка, стандартное время
        アメリカ東部夏時間
        アメリカ東部時間
        アメリカ東部標準時
        北美东部夏令时间
        北美东部时间
        北美东部标准时间
        미 동부 시간
        미 동부 표준시
        미 동부 하계 표준시
        =America/Chicago
        central-normaltid
        central-sommertid
        central-standaardtijd
        central-tid
        central-tijd
        central-zomertijd
        centralnordamerikansk normaltid
        centralnordamerikansk sommartid
        centralnordamerikansk tid
        czas środkowoamerykański
        czas środkowoamerykański letni
        czas środkowoamerykański standardowy
        heure du centre nord-américain
        heure d’été du centre nord-américain
        heure normale du centre nord-américain
        hora central
        hora de verano central
        hora estándar central
        horário central
        horário de verão central
        horário padrão central
        középső államokbeli idő
        középső államokbeli nyári idő
        középső államokbeli zónaidő
        nordamerikanische zentral-normalzeit
        nordamerikanische zentral-sommerzeit
        nordamerikanische zentralzeit
        normaltid for det sentrale nord-amerika
        ora centrale usa
        ora legale centrale usa
        ora standard centrale usa
        severoamerický centrální letní čas
        severoamerický centrální standardní čas
        severoamerický centrální čas
        sommertid for det sentrale nord-amerika
        tidssone for det sentrale nord-amerika
        yhdysvaltain keskinen aika
        yhdysvaltain keskinen kesäaika
        yhdysvaltain keskinen normaaliaika
        центральная америка
        центральная америка, летнее время
        центральная америка, стандартное время
        アメリカ中部夏時間
        アメリカ中部時間
        アメリカ中部標準時
        北美中部夏令时间
        北美中部时间
        北美中部标准时间
        미 중부 시간
        미 중부 표준시
        미 중부 하계 표준시
        =America/Denver
        czas górski
        czas górski letni
        czas górski standardowy
        hegyvidéki idő
        hegyvidéki nyári idő
        hegyvidéki zónaidő
        heure des rocheuses
        heure d’été des rocheuses
        heure normale des rocheuses
        hora de las montañas rocosas
        hora de verano de las montañas rocosas
        hora estándar de las montañas rocosas
        horário das montanhas
        horário de verão das montanhas
        horário padrão das montanhas
        kalliovuorten aika
        kalliovuorten kesäaika
        kalliovuorten normaaliaika
        klippiga bergen, normaltid
        klippiga bergen, sommartid
        klippiga bergentid
        mountain-normaltid
        mountain-sommertid
        mountain-standaardtijd
        mountain-tid
        mountain-tijd
        mountain-zomertijd
        normaltid for rocky mountains (usa)
        ora legale montagne rocciose usa
        ora montagne rocciose usa
        ora standard montagne rocciose usa
        rocky-mountain-normalzeit
        rocky-mountain-sommerzeit
        rocky-mountain-zeit
        severoamerický horský letní čas
        severoamerický horský standardní čas
        severoamerický horský čas
        sommertid for rocky mountains (usa)
        tidssone for rocky mountains (usa)
        горное время (северная америка)
        летнее горное время (северная америка)
        стандартное горное время (северная америка)
        アメリカ山地夏時間
        アメリカ山地時間
        アメリカ山地標準時
        北美山区夏令时间
        北美山区时间
        北美山区标准时间
        미 산악 표준시
        미 산지 시간
        미 산지 하계 표준시
        =America/Los_Angeles
        csendes-óceáni idő
        csendes-óceáni nyári idő
        csendes-óceáni zónaidő
        czas pacyficzny
        czas pacyficzny letni
        czas pacyficzny standardowy
        heure du pacifique nord-américain
        heure d’été du pacifique nord-américain
        heure normale du pacifique nord-américain
        hora de verano del pacífico
        hora del pacífico
        hora estándar del pacífico
        horário de verão do pacífico
        horário do pacífico
        horário padrão do pacífico
        nordamerikanische westküsten-normalzeit
        nordamerikanische westküsten-sommerzeit
        nordamerikanische westküstenzeit
        normaltid for den nordamerikanske stillehavskysten
        ora del pacifico usa
        ora legale del pacifico usa
        ora standard del pacifico usa
        pacific-normaltid
        pacific-sommertid
        pacific-standaardtijd
        pacific-tid
        pacific-tijd
        pacific-zomertijd
        severoamerický pacifický letní čas
        severoamerický pacifický standardní čas
        severoamerický pacifický čas
        sommertid for den nordamerikanske stillehavskysten
        tidssone for den nordamerikanske stillehavskysten
        västnordamerikansk normaltid
        västnordamerikansk sommartid
        västnordamerikansk tid
        yhdysvaltain tyynenmeren aika
        yhdysvaltain tyynenmeren kesäaika
        yhdysvaltain tyynenmeren normaaliaika
        тихоокеанское время
        тихоокеанское летнее время
        тихоокеанское стандартное время
        アメリカ太平洋夏時間
        アメリカ太平洋時間
        アメリカ太平洋標準時
        北美太平洋夏令时间
        北美太平洋时间
        北美太平洋标准时间
        미 태평양 시간
        미 태평양 표준시
        미 태평양 하계 표준시
        =America/Halifax
        atlanti-óceáni idő
        atlanti-óceáni nyári idő
        atlanti-óceáni zónaidő
        atlantic-normaltid
        atlantic-sommertid
        atlantic-standaardtijd
        atlantic-tid
        atlantic-tijd
        atlantic-zomertijd
        atlantický letní čas
        atlantický standardní čas
        atlantický čas
        atlantik-normalzeit
        atlantik-sommerzeit
        atlantik-zeit
        czas atlantycki
        czas atlantycki letni
        czas atlantycki standardowy
        heure de l’atlantique
        heure d’été de l’atlantique
        heure normale de l’atlantique
        hora de verano del atlántico
        hora del atlántico
        hora estándar del atlántico
        horário de verão do atlântico
        horário do atlântico
        horário padrão do atlântico
        kanadan atlantin aika
        kanadan atlantin kesäaika
        kanadan atlantin normaaliaika
        nordamerikansk atlantnormaltid
        nordamerikansk atlantsommartid
        nordamerikansk atlanttid
        normaltid for den nordamerikanske atlanterhavskysten
        ora dell’atlantico
        ora legale dell’atlantico
        ora standard dell’atlantico
        sommertid for den nordamerikanske atlanterhavskysten
        tidssone for den nordamerikanske atlanterhavskysten
        атлантическое время
        атлантическое летнее время
        атлантическое стандартное время
        大西洋夏令时间
        大西洋夏時間
        大西洋时间
        大西洋時間
        大西洋标准时间
        大西洋標準時
        대서양 시간
        대서양 표준시
        대서양 하계 표준시
        =America/St_Johns
        czas nowa fundlandia
        heure de terre-neuve
        heure d’été de terre-neuve
        heure normale de terre-neuve
        hora de terranova
        hora de verano de terranova
        hora estándar de terranova
        horário da terra nova
        horário de verão da terra nova
        horário padrão da terra nova
        neufundland-normalzeit
        neufundland-sommerzeit
        neufundland-zeit
        newfoundland, normaltid
        newfoundland, sommartid
        newfoundland-standaardtijd
        newfoundland-tijd
        newfoundland-zomertijd
        newfoundlandin aika
        newfoundlandin kesäaika
        newfoundlandin normaaliaika
        newfoundlandsk normaltid
        newfoundlandsk sommertid
        newfoundlandsk tid
        newfoundlandský letní čas
        newfoundlandský standardní čas
        newfoundlandský čas
        newfoundlandtid
        normaltid for newfoundland
        nowa fundlandia (czas letni)
        nowa fundlandia (czas standardowy)
        ora di terranova
        ora legale di terranova
        ora standard di terranova
        sommertid for newfoundland
        tidssone for newfoundland
        új-fundlandi idő
        új-fundlandi nyári idő
        új-fundlandi zónaidő
        ньюфаундленд
        ньюфаундленд, летнее время
        ньюфаундленд, стандартное время
        ニューファンドランド夏時間
        ニューファンドランド時間
        ニューファンドランド標準時
        纽芬兰夏令时间
        纽芬兰时间
        纽芬兰标准时间
        뉴펀들랜드 시간
        뉴펀들랜드 표준시
        뉴펀들랜드 하계 표준시
        =America/Anchorage
        alaska (czas letni)
        alaska (czas standardowy)
        alaska, normaltid
        alaska, sommartid
        alaska-normaltid
        alaska-normalzeit
        alaska-sommertid
        alaska-sommerzeit
        alaska-standaardtijd
        alaska-tid
        alaska-tijd
        alaska-zeit
        alaska-zomertijd
        alaskan aika
        alaskan kesäaika
        alaskan normaaliaika
        alaskatid
        alaskisk normaltid
        alaskisk sommertid
        alaskisk tid
        alaszkai idő
        alaszkai nyári idő
        alaszkai zónaidő
        aljašský letní čas
        aljašský standardní čas
        aljašský čas
        czas alaska
        heure de l’alaska
        heure d’été de l’alaska
        heure normale de l’alaska
        hora de alaska
        hora de verano de alaska
        hora estándar de alaska
        horário de verão do alasca
        horário do alasca
        horário padrão do alasca
        ora dell’alaska
        ora legale dell’alaska
        ora standard dell’alaska
        аляска
        аляска, летнее время
        аляска, стандартное время
        アラスカ夏時間
        アラスカ時間
        アラスカ標準時
        阿拉斯加夏令时间
        阿拉斯加时间
        阿拉斯加标准时间
        알래스카 시간
        알래스카 표준시
        알래스카 하계 표준시
        =Pacific/Honolulu
        czas hawaje-aleuty
        havaijin-aleuttien aika
        havaijin-aleuttien kesäaika
        havaijin-aleuttien normaaliaika
        havajsko-aleutský letní čas
        havajsko-aleutský standardní čas
        havajsko-aleutský čas
        hawaii-aleoetische standaardtijd
        hawaii-aleoetische tijd
        hawaii-aleoetische zomertijd
        hawaii-aleuten-normalzeit
        hawaii-aleuten-sommerzeit
        hawaii-aleuten-zeit
        hawaii-aleuti időzóna
        hawaii-aleuti nyári idő
        hawaii-aleuti téli idő
        hawaii-aleutian-normaltid
        hawaii-aleutian-sommertid
        hawaii-aleutian-tid
        hawaje-aleuty (czas letni)
        hawaje-aleuty (czas standardowy)
        heure d’hawaï - aléoutiennes
        heure d’été d’hawaï - aléoutiennes
        heure normale d’hawaï - aléoutiennes
        honolulu, normaltid
        honolulu, sommartid
        honolulutid
        hora de hawái-aleutianas
        hora de verano de hawái-aleutianas
        hora estándar de hawái-aleutianas
        horário de verão do havaí e ilhas aleutas
        horário do havaí e ilhas aleutas
        horário padrão do havaí e ilhas aleutas
        normaltid for hawaii og aleutene
        ora delle isole hawaii-aleutine
        ora legale delle isole hawaii-aleutine
        ora standard delle isole hawaii-aleutine
        sommertid for hawaii og aleutene
        tidssone for hawaii og aleutene
        гавайско-алеутское время
        гавайско-алеутское летнее время
        гавайско-алеутское стандартное время
        ハワイ・アリューシャン夏時間
        ハワイ・アリューシャン時間
        ハワイ・アリューシャン標準時
        夏威夷-阿留申夏令时间
        夏威夷-阿留申时间
        夏威夷-阿留申标准时间
        하와이 알류샨 시간
        하와이 알류샨 표준시
        하와이 알류샨 하계 표준시
        =America/Sao_Paulo
        brasilia, normaltid
        brasilia, sommartid
        brasilian aika
        brasilian kesäaika
        brasilian normaaliaika
        brasiliansk normaltid
        brasiliansk sommertid
        brasiliansk tid
        brasiliatid
        brasilijský letní čas
        brasilijský standardní čas
        brasilijský čas
        brasília (czas letni)
        brasília (czas standardowy)
        brasília-normalzeit
        brasília-sommerzeit
        brasília-zeit
        braziliaanse standaardtijd
        braziliaanse tijd
        braziliaanse zomertijd
        brazíliai idő
        brazíliai nyári idő
        brazíliai téli idő
        czas brasília
        heure de brasilia
        heure d’été de brasilia
        heure normale de brasilia
        hora de brasilia
        hora de verano de brasilia
        hora estándar de brasilia
        horário de brasília
        horário de verão de brasília
        horário padrão de brasília
        normaltid for brasilia
        ora di brasilia
        ora legale di brasilia
        ora standard di brasilia
        sommertid for brasilia
        tidssone for brasilia
        бразилия
        бразилия, летнее время
        бразилия, стандартное время
        ブラジリア夏時間
        ブラジリア時間
        ブラジリア標準時
        巴西利亚夏令时间
        巴西利亚时间
        巴西利亚标准时间
        브라질리아 시간
        브라질리아 표준시
        브라질리아 하계 표준시
        =America/Argentina/Buenos_Aires
        argentiinan aika
        argentiinan kesäaika
        argentiinan normaaliaika
        argentijnse standaardtijd
        argentijnse tijd
        argentijnse zomertijd
        argentinische normalzeit
        argentinische sommerzeit
        argentinische zeit
        argentinsk normaltid
        argentinsk sommertid
        argentinsk tid
        argentinský letní čas
        argentinský standardní čas
        argentinský čas
        argentisk tid
        argentyna (czas letni)
        argentyna (czas standardowy)
        argentínai idő
        argentínai nyári idő
        argentínai téli idő
        czas argentyna
        heure de l’argentine
        heure d’été de l’argentine
        heure normale d’argentine
        hora de argentina
        hora de verano de argentina
        hora estándar de argentina
        horário da argentina
        horário de verão da argentina
        horário padrão da argentina
        ora dell’argentina
        ora legale dell’argentina
        ora standard dell’argentina
        östargentinsk normaltid
        östargentinsk sommartid
        östargentinsk tid
        аргентина
        аргентина, летнее время
        аргентина, стандартное время
        アルゼンチン夏時間
        アルゼンチン時間
        アルゼンチン標準時
        阿根廷夏令时间
        阿根廷时间
        阿根廷标准时间
        아르헨티나 시간
        아르헨티나 표준시
        아르헨티나 하계 표준시
        =America/Santiago
        chile (czas letni)
        chile (czas standardowy)
        chileense standaardtijd
        chileense tijd
        chileense zomertijd
        chilei időzóna
        chilei nyári idő
        chilei téli idő
        chilen aika
        chilen kesäaika
        chilen normaaliaika
        chilenische normalzeit
        chilenische sommerzeit
        chilenische zeit
        chilensk normaltid
        chilensk sommartid
        chilensk sommertid
        chilensk tid
        chilský letní čas
        chilský standardní čas
        chilský čas
        czas chile
        heure du chili
        heure d’été du chili
        heure normale du chili
        hora de chile
        hora de verano de chile
        hora estándar de chile
        horário de verão do chile
        horário do chile
        horário padrão do chile
        ora del cile
        ora legale del cile
        ora standard del cile
        чили
        чили, летнее время
        чили, стандартное время
        チリ夏時間
        チリ時間
        チリ標準時
        智利夏令时间
        智利时间
        智利标准时间
        칠레 시간
        칠레 표준시
        칠레 하계 표준시
        =America/Bogota
        colombiaanse standaardtijd
        colombiaanse tijd
        colombiaanse zomertijd
        colombiansk normaltid
        colombiansk sommartid
        colombiansk sommertid
        colombiansk tid
        czas kolumbia
        heure de colombie
        heure d’été de colombie
        heure normale de colombie
        hora de colombia
        hora de verano de colombia
        hora estándar de colombia
        horário da colômbia
        horário de verão da colômbia
        horário padrão da colômbia
        kolumbia (czas letni)
        kolumbia (czas standardowy)
        kolumbiai idő
        kolumbiai nyári idő
        kolumbiai téli idő
        kolumbian aika
        kolumbian kesäaika
        kolumbian normaaliaika
        kolumbianische normalzeit
        kolumbianische sommerzeit
        kolumbianische zeit
        kolumbijský letní čas
        kolumbijský standardní čas
        kolumbijský čas
        ora della colombia
        ora legale della colombia
        ora standard della colombia
        колумбия
        колумбия, летнее время
        колумбия, стандартное время
        コロンビア夏時間
        コロンビア時間
        コロンビア標準時
        哥伦比亚夏令时间
        哥伦比亚时间
        哥伦比亚标准时间
        콜롬비아 시간
        콜롬비아 표준시
        콜롬비아 하계 표준시
        =Asia/Tokyo
        czas japonia
        heure du japon
        heure d’été du japon
        heure normale du japon
        hora de japón
        hora de verano de japón
        hora estándar de japón
        horário de verão do japão
        horário do japão
        horário padrão do japão
        japanin aika
        japanin kesäaika
        japanin normaaliaika
        japanische normalzeit
        japanische sommerzeit
        japanische zeit
        japanse standaardtijd
        japanse tijd
        japanse zomertijd
        japansk normaltid
        japansk sommartid
        japansk sommertid
        japansk tid
        japonia (czas letni)
        japonia (czas standardowy)
        japonský letní čas
        japonský standardní čas
        japonský čas
        japán idő
        japán nyári idő
        japán téli idő
        ora del giappone
        ora legale del giappone
        ora standard del giappone
        япония
        япония, летнее время
        япония, стандартное время
        日本夏令时间
        日本夏時間
        日本时间
        日本時間
        日本标准时间
        日本標準時
        일본 시간
        일본 표준시
        일본 하계 표준시
        =Asia/Seoul
        czas korea
        heure de la corée
        heure d’été de corée
        heure normale de la corée
        hora de corea
        hora de verano de corea
        hora estándar de corea
        horário da coreia
        horário de verão da coreia
        horário padrão da coreia
        korea (czas letni)
        korea (czas standardowy)
        koreaanse standaardtijd
        koreaanse tijd
        koreaanse zomertijd
        koreai idő
        koreai nyári idő
        koreai téli idő
        korean aika
        korean kesäaika
        korean normaaliaika
        koreanische normalzeit
        koreanische sommerzeit
        koreanische zeit
        koreansk normaltid
        koreansk sommartid
        koreansk sommertid
        koreansk tid
        korejský letní čas
        korejský standardní čas
        korejský čas
        ora coreana
        ora legale coreana
        ora standard coreana
        корея
        корея, летнее время
        корея, стандартное время
        韓国夏時間
        韓国時間
        韓国標準時
        韩国夏令时间
        韩国时间
        韩国标准时间
        대한민국 시간
        대한민국 표준시
        대한민국 하계 표준시
        =Asia/Shanghai
        chinese standaardtijd
        chinese tijd
        chinese zomertijd
        chinesische normalzeit
        chinesische sommerzeit
        chinesische zeit
        chiny (czas letni)
        chiny (czas standardowy)
        czas chiny
        heure de la chine
        heure d’été de chine
        heure normale de la chine
        hora de china
        hora de verano de china
        hora estándar de china
        horário da china
        horário de verão da china
        horário padrão da china
        kiinan aika
        kiinan kesäaika
        kiinan normaaliaika
        kinesisk normaltid
        kinesisk sommartid
        kinesisk sommertid
        kinesisk tid
        kínai idő
        kínai nyári idő
        kínai téli idő
        ora della cina
        ora legale della cina
        ora standard della cina
        čínský letní čas
        čínský standardní čas
        čínský čas
        китай
        китай, летнее время
        китай, стандартное время
        中国夏令时间
        中国夏時間
        中国时间
        中国時間
        中国标准时间
        中国標準時
        중국 시간
        중국 표준시
        중국 하계 표준시
        =Asia/Hong_Kong
        czas hongkong
        heure de hong kong
        heure d’été de hong kong
        heure normale de hong kong
        hongkong (czas letni)
        hongkong (czas standardowy)
        hongkong, normaltid
        hongkong, sommartid
        hongkong-normaltid
        hongkong-normalzeit
        hongkong-sommertid
        hongkong-sommerzeit
        hongkong-tid
        hongkong-zeit
        hongkongi időzóna
        hongkongi nyári idő
        hongkongi téli idő
        hongkongin aika
        hongkongin kesäaika
        hongkongin normaaliaika
        hongkongse standaardtijd
        hongkongse tijd
        hongkongse zomertijd
        hongkongský letní čas
        hongkongský standardní čas
        hongkongský čas
        hongkongtid
        hora de hong kong
        hora de verano de hong kong
        hora estándar de hong kong
        horário de hong kong
        horário de verão de hong kong
        horário padrão de hong kong
        normaltid for hongkong
        ora di hong kong
        ora legale di hong kong
        ora standard di hong kong
        sommertid for hongkong
        tidssone for hongkong
        гонконг
        гонконг, летнее время
        гонконг, стандартное время
        香港夏令时间
        香港夏時間
        香港时间
        香港時間
        香港标准时间
        香港標準時
        홍콩 시간
        홍콩 표준시
        홍콩 하계 표준시
        =Asia/Taipei
        czas tajpej
        heure de taipei
        heure d’été de taipei
        heure normale de taipei
        hora de taipéi
        hora de verano de taipéi
        hora estándar de taipéi
        horário de taipei
        horário de verão de taipei
        horário padrão de taipei
        normaltid for taipei
        ora di taipei
        ora legale di taipei
        ora standard di taipei
        sommertid for taipei
        taipeh-normalzeit
        taipeh-sommerzeit
        taipeh-zeit
        taipei idő
        taipei nyári idő
        taipei téli idő
        taipei, normaltid
        taipei, sommartid
        taipei-normaltid
        taipei-sommertid
        taipei-standaardtijd
        taipei-tid
        taipei-tijd
        taipei-zomertijd
        taipein aika
        taipein kesäaika
        taipein normaaliaika
        taipeitid
        tajpej (czas letni)
        tajpej (czas standardowy)
        tchajpejský letní čas
        tchajpejský standardní čas
        tchajpejský čas
        tidssone for taipei
        тайвань
        тайвань, летнее время
        тайвань, стандартное время
        台北夏令时间
        台北夏時間
        台北时间
        台北時間
        台北标准时间
        台北標準時
        대만 시간
        대만 표준시
        대만 하계 표준시
        =Asia/Singapore
        czas singapur
        heure de singapour
        hora de singapur
        horário padrão de singapura
        ora di singapore
        singapore-tid
        singaporen aika
        singaporese standaardtijd
        singaporetid
        singaporsk tid
        singapurische normalzeit
        singapurský čas
        szingapúri téli idő
        сингапур
        シンガポール標準時
        新加坡标准时间
        싱가포르 표준시
        =Asia/Kolkata
        czas indyjski standardowy
        heure de l’inde
        hora estándar de la india
        horário padrão da índia
        indiai téli idő
        indiase tijd
        indický čas
        indische normalzeit
        indisk normaltid
        indisk tid
        intian aika
        ora standard dell’india
        индия
        インド標準時
        印度时间
        인도 표준시
        =Asia/Jerusalem
        czas izrael
        heure d’israël
        heure d’été d’israël
        heure normale d’israël
        hora de israel
        hora de verano de israel
        hora estándar de israel
        horário de israel
        horário de verão de israel
        horário padrão de israel
        israelin aika
        israelin kesäaika
        israelin normaaliaika
        israelische normalzeit
        israelische sommerzeit
        israelische zeit
        israelisk normaltid
        israelisk sommartid
        israelisk tid
        israelsk normaltid
        israelsk sommertid
        israelsk tid
        israëlische standaardtijd
        israëlische tijd
        israëlische zomertijd
        izrael (czas letni)
        izrael (czas standardowy)
        izraeli idő
        izraeli nyári idő
        izraeli téli idő
        izraelský letní čas
        izraelský standardní čas
        izraelský čas
        ora di israele
        ora legale di israele
        ora standard di israele
        израиль
        израиль, летнее время
        израиль, стандартное время
        イスラエル夏時間
        イスラエル時間
        イスラエル標準時
        以色列夏令时间
        以色列时间
        以色列标准时间
        이스라엘 시간
        이스라엘 표준시
        이스라엘 하계 표준시
        =Asia/Riyadh
        arab idő
        arab nyári idő
        arab téli idő
        arabische normalzeit
        arabische sommerzeit
        arabische standaardtijd
        arabische tijd
        arabische zeit
        arabische zomertijd
        arabisk normaltid
        arabisk sommertid
        arabisk standardtid
        arabisk tid
        arabský letní čas
        arabský standardní čas
        arabský čas
        czas półwysep arabski
        heure de l’arabie
        heure d’été de l’arabie
        heure normale de l’arabie
        hora de arabia
        hora de verano de arabia
        hora estándar de arabia
        horário da arábia
        horário de verão da arábia
        horário padrão da arábia
        ora araba
        ora legale araba
        ora standard araba
        półwysep arabski (czas letni)
        półwysep arabski (czas standardowy)
        saudi-arabian aika
        saudi-arabian kesäaika
        saudi-arabian normaaliaika
        saudiarabisk normaltid
        saudiarabisk sommartid
        saudiarabisk tid
        саудовская аравия
        саудовская аравия, летнее время
        саудовская аравия, стандартное время
        アラビア夏時間
        アラビア時間
        アラビア標準時
        阿拉伯夏令时间
        阿拉伯时间
        阿拉伯标准时间
        아라비아 시간
        아라비아 표준시
        아라비아 하계 표준시
        =Asia/Dubai
        arabiemiirikuntien normaaliaika
        czas zatoka perska
        golf-standaardtijd
        golf-zeit
        golflandene-normaltid
        heure du golfe
        hora estándar del golfo
        horário do golfo
        ora del golfo
        persiska vikentid
        standardní čas perského zálivu
        tidssone for persiabukta
        öbölbeli téli idő
        персидский залив
        海湾标准时间
        湾岸標準時
        걸프만 표준시
        =Africa/Johannesburg
        czas południowoafrykański
        dél-afrikai téli idő
        etelä-afrikan aika
        heure normale d’afrique méridionale
        hora de sudáfrica
        horário da áfrica do sul
        jihoafrický čas
        ora dell’africa meridionale
        sydafrikansk tid
        sørafrikansk tid
        südafrikanische zeit
        zuid-afrikaanse tijd
        южная африка
        南アフリカ標準時
        南非标准时间
        남아프리카 시간
        =Australia/Sydney
        czas wschodnioaustralijski
        czas wschodnioaustralijski letni
        czas wschodnioaustralijski standardowy
        heure de l’est de l’australie
        heure d’été de l’est de l’australie
        heure normale de l’est de l’australie
        hora de australia oriental
        hora de verano de australia oriental
        hora estándar de australia oriental
        horário da austrália oriental
        horário de verão da austrália oriental
        horário padrão da austrália oriental
        itä-australian aika
        itä-australian kesäaika
        itä-australian normaaliaika
        kelet-ausztráliai idő
        kelet-ausztráliai nyári idő
        kelet-ausztráliai téli idő
        oost-australische standaardtijd
        oost-australische tijd
        oost-australische zomertijd
        ora dell’australia orientale
        ora legale dell’australia orientale
        ora standard dell’australia orientale
        ostaustralische normalzeit
        ostaustralische sommerzeit
        ostaustralische zeit
        východoaustralský letní čas
        východoaustralský standardní čas
        východoaustralský čas
        östaustralisk normaltid
        östaustralisk sommartid
        östaustralisk tid
        østaustralsk normaltid
        østaustralsk sommertid
        østaustralsk tid
        восточная австралия
        восточная австралия, летнее время
        восточная австралия, стандартное время
        オーストラリア東部夏時間
        オーストラリア東部時間
        オーストラリア東部標準時
        澳大利亚东部夏令时间
        澳大利亚东部时间
        澳大利亚东部标准时间
        오스트레일리아 동부 시간
        오스트레일리아 동부 표준시
        오스트레일리아 동부 하계 표준시
        =Australia/Adelaide
        centralaustralisk normaltid
        centralaustralisk sommartid
        centralaustralisk tid
        centralaustralsk normaltid
        centralaustralsk sommertid
        centralaustralsk tid
        czas środkowoaustralijski
        czas środkowoaustralijski letni
        czas środkowoaustralijski standardowy
        heure du centre de l’australie
        heure d’été du centre de l’australie
        heure normale du centre de l’australie
        hora de australia central
        hora de verano de australia central
        hora estándar de australia central
        horário da austrália central
        horário de verão da austrália central
        horário padrão da austrália central
        keski-australian aika
        keski-australian kesäaika
        keski-australian normaaliaika
        közép-ausztráliai idő
        közép-ausztráliai nyári idő
        közép-ausztráliai téli idő
        midden-australische standaardtijd
        midden-australische tijd
        midden-australische zomertijd
        ora dell’australia centrale
        ora legale dell’australia centrale
        ora standard dell’australia centrale
        sentralaustralsk normaltid
        sentralaustralsk sommertid
        sentralaustralsk tid
        středoaustralský letní čas
        středoaustralský standardní čas
        středoaustralský čas
        zentralaustralische normalzeit
        zentralaustralische sommerzeit
        zentralaustralische zeit
        центральная австралия
        центральная австралия, летнее время
        центральная австралия, стандартное время
        オーストラリア中部夏時間
        オーストラリア中部時間
        オーストラリア中部標準時
        澳大利亚中部夏令时间
        澳大利亚中部时间
        澳大利亚中部标准时间
        오스트레일리아 중부 시간
        오스트레일리아 중부 표준시
        오스트레일리아 중부 하계 표준시
        =Australia/Perth
        czas zachodnioaustralijski
        czas zachodnioaustralijski letni
        czas zachodnioaustralijski standardowy
        heure de l’ouest de l’australie
        heure d’été de l’ouest de l’australie
        heure normale de l’ouest de l’australie
        hora de australia occidental
        hora de verano de australia occidental
        hora estándar de australia occidental
        horário da austrália ocidental
        horário de verão da austrália ocidental
        horário padrão da austrália ocidental
        länsi-australian aika
        länsi-australian kesäaika
        länsi-australian normaaliaika
        nyugat-ausztráliai idő
        nyugat-ausztráliai nyári idő
        nyugat-ausztráliai téli idő
        ora dell’australia occidentale
        ora legale dell’australia occidentale
        ora standard dell’australia occidentale
        vestaustralsk normaltid
        vestaustralsk sommertid
        vestaustralsk tid
        västaustralisk normaltid
        västaustralisk sommartid
        västaustralisk tid
        west-australische standaardtijd
        west-australische tijd
        west-australische zomertijd
        westaustralische normalzeit
        westaustralische sommerzeit
        westaustralische zeit
        západoaustralský letní čas
        západoaustralský standardní čas
        západoaustralský čas
        западная австралия
        западная австралия, летнее время
        западная австралия, стандартное время
        オーストラリア西部夏時間
        オーストラリア西部時間
        オーストラリア西部標準時
        澳大利亚西部夏令时间
        澳大利亚西部时间
        澳大利亚西部标准时间
        오스트레일리아 서부 시간
        오스트레일리아 서부 표준시
        오스트레일리아 서부 하계 표준시
        =Pacific/Auckland
        czas nowa zelandia
        heure de la nouvelle-zélande
        heure d’été de la nouvelle-zélande
        heure normale de la nouvelle-zélande
        hora de nueva zelanda
        hora de verano de nueva zelanda
        hora estándar de nueva zelanda
        horário da nova zelândia
        horário de verão da nova zelândia
        horário padrão da nova zelândia
        neuseeland-normalzeit
        neuseeland-sommerzeit
        neuseeland-zeit
        newzealandsk normaltid
        newzealandsk sommertid
        newzealandsk tid
        nieuw-zeelandse standaardtijd
        nieuw-zeelandse tijd
        nieuw-zeelandse zomertijd
        novozélandský letní čas
        novozélandský standardní čas
        novozélandský čas
        nowa zelandia (czas letni)
        nowa zelandia (czas standardowy)
        nyzeeländsk normaltid
        nyzeeländsk sommartid
        nyzeeländsk tid
        ora della nuova zelanda
        ora legale della nuova zelanda
        ora standard della nuova zelanda
        uuden-seelannin aika
        uuden-seelannin kesäaika
        uuden-seelannin normaaliaika
        új-zélandi idő
        új-zélandi nyári idő
        új-zélandi téli idő
        новая зеландия
        новая зеландия, летнее время
        новая зеландия, стандартное время
        ニュージーランド夏時間
        ニュージーランド時間
        ニュージーランド標準時
        新西兰夏令时间
        新西兰时间
        新西兰标准时间
        뉴질랜드 시간
        뉴질랜드 표준시
        뉴질랜드 하계 표준시
        """
}
