// SPDX-License-Identifier: Apache-2.0

extension LocalisedZones {
    /// Derived from CLDR, as the type describes. An id after `=`, then its names; a line that ends in `;` continues.
    static let names = """
        =Europe/Berlin; centraleuropeisk normaltid; centraleuropeisk sommartid; centraleuropeisk tid;
        centraleuropæisk normaltid; centraleuropæisk sommertid; centraleuropæisk tid; czas środkowoeuropejski;
        czas środkowoeuropejski letni; czas środkowoeuropejski standardowy; heure d’europe centrale;
        heure d’été d’europe centrale; heure normale d’europe centrale; hora de europa central;
        hora de verano de europa central; hora estándar de europa central; horário da europa central;
        horário de verão da europa central; horário padrão da europa central; keski-euroopan aika;
        keski-euroopan kesäaika; keski-euroopan normaaliaika; közép-európai időzóna; közép-európai nyári idő;
        közép-európai téli idő; midden-europese standaardtijd; midden-europese tijd; midden-europese zomertijd;
        mitteleuropäische normalzeit; mitteleuropäische sommerzeit; mitteleuropäische zeit;
        ora dell’europa centrale; ora legale dell’europa centrale; ora standard dell’europa centrale;
        sentraleuropeisk normaltid; sentraleuropeisk sommertid; sentraleuropeisk tid; středoevropský letní čas;
        středoevropský standardní čas; středoevropský čas; центральная европа; центральная европа, летнее время;
        центральная европа, стандартное время; 中央ヨーロッパ夏時間; 中央ヨーロッパ時間; 中央ヨーロッパ標準時;
        中欧夏令时间; 中欧时间; 中欧标准时间; 중부유럽 시간; 중부유럽 표준시; 중부유럽 하계 표준시
        =Europe/Athens; czas wschodnioeuropejski; czas wschodnioeuropejski letni;
        czas wschodnioeuropejski standardowy; heure d’europe de l’est; heure d’été d’europe de l’est;
        heure normale d’europe de l’est; hora de europa oriental; hora de verano de europa oriental;
        hora estándar de europa oriental; horário da europa oriental; horário de verão da europa oriental;
        horário padrão da europa oriental; itä-euroopan aika; itä-euroopan kesäaika; itä-euroopan normaaliaika;
        kelet-európai időzóna; kelet-európai nyári idő; kelet-európai téli idő; oost-europese standaardtijd;
        oost-europese tijd; oost-europese zomertijd; ora dell’europa orientale; ora legale dell’europa orientale;
        ora standard dell’europa orientale; osteuropäische normalzeit; osteuropäische sommerzeit;
        osteuropäische zeit; východoevropský letní čas; východoevropský standardní čas; východoevropský čas;
        östeuropeisk normaltid; östeuropeisk sommartid; östeuropeisk tid; østeuropeisk normaltid;
        østeuropeisk sommertid; østeuropeisk tid; østeuropæisk normaltid; østeuropæisk sommertid; østeuropæisk tid;
        восточная европа; восточная европа, летнее время; восточная европа, стандартное время; 东欧夏令时间;
        东欧时间; 东欧标准时间; 東ヨーロッパ夏時間; 東ヨーロッパ時間; 東ヨーロッパ標準時; 동유럽 시간; 동유럽 표준시;
        동유럽 하계 표준시
        =Europe/Lisbon; czas zachodnioeuropejski; czas zachodnioeuropejski letni;
        czas zachodnioeuropejski standardowy; heure d’europe de l’ouest; heure d’été d’europe de l’ouest;
        heure normale d’europe de l’ouest; hora de europa occidental; hora de verano de europa occidental;
        hora estándar de europa occidental; horário da europa ocidental; horário de verão da europa ocidental;
        horário padrão da europa ocidental; länsi-euroopan aika; länsi-euroopan kesäaika;
        länsi-euroopan normaaliaika; nyugat-európai időzóna; nyugat-európai nyári idő; nyugat-európai téli idő;
        ora dell’europa occidentale; ora legale dell’europa occidentale; ora standard dell’europa occidentale;
        vesteuropeisk normaltid; vesteuropeisk sommertid; vesteuropeisk tid; vesteuropæisk normaltid;
        vesteuropæisk sommertid; vesteuropæisk tid; västeuropeisk normaltid; västeuropeisk sommartid;
        västeuropeisk tid; west-europese standaardtijd; west-europese tijd; west-europese zomertijd;
        westeuropäische normalzeit; westeuropäische sommerzeit; westeuropäische zeit; západoevropský letní čas;
        západoevropský standardní čas; západoevropský čas; западная европа; западная европа, летнее время;
        западная европа, стандартное время; 西ヨーロッパ夏時間; 西ヨーロッパ時間; 西ヨーロッパ標準時; 西欧夏令时间;
        西欧时间; 西欧标准时间; 서유럽 시간; 서유럽 표준시; 서유럽 하계 표준시
        =Etc/GMT; czas uniwersalny; gmt; greenwich mean time; greenwich middeltid; greenwichi középidő, téli idő;
        greenwichin normaaliaika; greenwichský střední čas; greenwichtid; heure moyenne de greenwich;
        hora del meridiano de greenwich; horário do meridiano de greenwich; mittlere greenwich-zeit;
        ora del meridiano di greenwich; среднее время по гринвичу; グリニッジ標準時; 格林尼治标准时间;
        그리니치 표준시
        =Europe/Moscow; czas moskwa; heure de moscou; heure d’été de moscou; heure normale de moscou; hora de moscú;
        hora de verano de moscú; hora estándar de moscú; horário de moscou; horário de verão de moscou;
        horário padrão de moscou; moskauer normalzeit; moskauer sommerzeit; moskauer zeit; moskevský letní čas;
        moskevský standardní čas; moskevský čas; moskou-standaardtijd; moskou-tijd; moskou-zomertijd; moskovan aika;
        moskovan kesäaika; moskovan normaaliaika; moskva, normaltid; moskva, sommartid; moskva-normaltid;
        moskva-sommertid; moskva-tid; moskvatid; moskwa (czas letni); moskwa (czas standardowy); moszkvai idő;
        moszkvai nyári idő; moszkvai téli idő; normaltid for moskva; ora di mosca; ora legale di mosca;
        ora standard di mosca; sommertid for moskva; tidssone for moskva; москва; москва, летнее время;
        москва, стандартное время; モスクワ夏時間; モスクワ時間; モスクワ標準時; 莫斯科夏令时间; 莫斯科时间;
        莫斯科标准时间; 모스크바 시간; 모스크바 표준시; 모스크바 하계 표준시
        =America/New_York; czas wschodnioamerykański; czas wschodnioamerykański letni;
        czas wschodnioamerykański standardowy; eastern-normaltid; eastern-sommertid; eastern-standaardtijd;
        eastern-tid; eastern-tijd; eastern-zomertijd; heure de l’est nord-américain;
        heure d’été de l’est nord-américain; heure normale de l’est nord-américain; hora de verano oriental;
        hora estándar oriental; hora oriental; horário de verão do leste; horário do leste; horário padrão do leste;
        keleti államokbeli idő; keleti államokbeli nyári idő; keleti államokbeli zónaidő;
        nordamerikanische ostküsten-normalzeit; nordamerikanische ostküsten-sommerzeit;
        nordamerikanische ostküstenzeit; normaltid for den nordamerikanske østkysten; ora legale orientale usa;
        ora orientale usa; ora standard orientale usa; severoamerický východní letní čas;
        severoamerický východní standardní čas; severoamerický východní čas;
        sommertid for den nordamerikanske østkysten; tidssone for den nordamerikanske østkysten;
        yhdysvaltain itäinen aika; yhdysvaltain itäinen kesäaika; yhdysvaltain itäinen normaaliaika;
        östnordamerikansk normaltid; östnordamerikansk sommartid; östnordamerikansk tid; восточная америка;
        восточная америка, летнее время; восточная америка, стандартное время; アメリカ東部夏時間; アメリカ東部時間;
        アメリカ東部標準時; 北美东部夏令时间; 北美东部时间; 北美东部标准时间; 미 동부 시간; 미 동부 표준시;
        미 동부 하계 표준시
        =America/Chicago; central-normaltid; central-sommertid; central-standaardtijd; central-tid; central-tijd;
        central-zomertijd; centralnordamerikansk normaltid; centralnordamerikansk sommartid;
        centralnordamerikansk tid; czas środkowoamerykański; czas środkowoamerykański letni;
        czas środkowoamerykański standardowy; heure du centre nord-américain; heure d’été du centre nord-américain;
        heure normale du centre nord-américain; hora central; hora de verano central; hora estándar central;
        horário central; horário de verão central; horário padrão central; középső államokbeli idő;
        középső államokbeli nyári idő; középső államokbeli zónaidő; nordamerikanische zentral-normalzeit;
        nordamerikanische zentral-sommerzeit; nordamerikanische zentralzeit; normaltid for det sentrale nord-amerika;
        ora centrale usa; ora legale centrale usa; ora standard centrale usa; severoamerický centrální letní čas;
        severoamerický centrální standardní čas; severoamerický centrální čas;
        sommertid for det sentrale nord-amerika; tidssone for det sentrale nord-amerika; yhdysvaltain keskinen aika;
        yhdysvaltain keskinen kesäaika; yhdysvaltain keskinen normaaliaika; центральная америка;
        центральная америка, летнее время; центральная америка, стандартное время; アメリカ中部夏時間;
        アメリカ中部時間; アメリカ中部標準時; 北美中部夏令时间; 北美中部时间; 北美中部标准时间; 미 중부 시간;
        미 중부 표준시; 미 중부 하계 표준시
        =America/Denver; czas górski; czas górski letni; czas górski standardowy; hegyvidéki idő;
        hegyvidéki nyári idő; hegyvidéki zónaidő; heure des rocheuses; heure d’été des rocheuses;
        heure normale des rocheuses; hora de las montañas rocosas; hora de verano de las montañas rocosas;
        hora estándar de las montañas rocosas; horário das montanhas; horário de verão das montanhas;
        horário padrão das montanhas; kalliovuorten aika; kalliovuorten kesäaika; kalliovuorten normaaliaika;
        klippiga bergen, normaltid; klippiga bergen, sommartid; klippiga bergentid; mountain-normaltid;
        mountain-sommertid; mountain-standaardtijd; mountain-tid; mountain-tijd; mountain-zomertijd;
        normaltid for rocky mountains (usa); ora legale montagne rocciose usa; ora montagne rocciose usa;
        ora standard montagne rocciose usa; rocky-mountain-normalzeit; rocky-mountain-sommerzeit;
        rocky-mountain-zeit; severoamerický horský letní čas; severoamerický horský standardní čas;
        severoamerický horský čas; sommertid for rocky mountains (usa); tidssone for rocky mountains (usa);
        горное время (северная америка); летнее горное время (северная америка);
        стандартное горное время (северная америка); アメリカ山地夏時間; アメリカ山地時間; アメリカ山地標準時;
        北美山区夏令时间; 北美山区时间; 北美山区标准时间; 미 산악 표준시; 미 산지 시간; 미 산지 하계 표준시
        =America/Los_Angeles; csendes-óceáni idő; csendes-óceáni nyári idő; csendes-óceáni zónaidő; czas pacyficzny;
        czas pacyficzny letni; czas pacyficzny standardowy; heure du pacifique nord-américain;
        heure d’été du pacifique nord-américain; heure normale du pacifique nord-américain;
        hora de verano del pacífico; hora del pacífico; hora estándar del pacífico; horário de verão do pacífico;
        horário do pacífico; horário padrão do pacífico; nordamerikanische westküsten-normalzeit;
        nordamerikanische westküsten-sommerzeit; nordamerikanische westküstenzeit;
        normaltid for den nordamerikanske stillehavskysten; ora del pacifico usa; ora legale del pacifico usa;
        ora standard del pacifico usa; pacific-normaltid; pacific-sommertid; pacific-standaardtijd; pacific-tid;
        pacific-tijd; pacific-zomertijd; severoamerický pacifický letní čas; severoamerický pacifický standardní čas;
        severoamerický pacifický čas; sommertid for den nordamerikanske stillehavskysten;
        tidssone for den nordamerikanske stillehavskysten; västnordamerikansk normaltid;
        västnordamerikansk sommartid; västnordamerikansk tid; yhdysvaltain tyynenmeren aika;
        yhdysvaltain tyynenmeren kesäaika; yhdysvaltain tyynenmeren normaaliaika; тихоокеанское время;
        тихоокеанское летнее время; тихоокеанское стандартное время; アメリカ太平洋夏時間; アメリカ太平洋時間;
        アメリカ太平洋標準時; 北美太平洋夏令时间; 北美太平洋时间; 北美太平洋标准时间; 미 태평양 시간;
        미 태평양 표준시; 미 태평양 하계 표준시
        =America/Halifax; atlanti-óceáni idő; atlanti-óceáni nyári idő; atlanti-óceáni zónaidő; atlantic-normaltid;
        atlantic-sommertid; atlantic-standaardtijd; atlantic-tid; atlantic-tijd; atlantic-zomertijd;
        atlantický letní čas; atlantický standardní čas; atlantický čas; atlantik-normalzeit; atlantik-sommerzeit;
        atlantik-zeit; czas atlantycki; czas atlantycki letni; czas atlantycki standardowy; heure de l’atlantique;
        heure d’été de l’atlantique; heure normale de l’atlantique; hora de verano del atlántico;
        hora del atlántico; hora estándar del atlántico; horário de verão do atlântico; horário do atlântico;
        horário padrão do atlântico; kanadan atlantin aika; kanadan atlantin kesäaika; kanadan atlantin normaaliaika;
        nordamerikansk atlantnormaltid; nordamerikansk atlantsommartid; nordamerikansk atlanttid;
        normaltid for den nordamerikanske atlanterhavskysten; ora dell’atlantico; ora legale dell’atlantico;
        ora standard dell’atlantico; sommertid for den nordamerikanske atlanterhavskysten;
        tidssone for den nordamerikanske atlanterhavskysten; атлантическое время; атлантическое летнее время;
        атлантическое стандартное время; 大西洋夏令时间; 大西洋夏時間; 大西洋时间; 大西洋時間; 大西洋标准时间;
        大西洋標準時; 대서양 시간; 대서양 표준시; 대서양 하계 표준시
        =America/St_Johns; czas nowa fundlandia; heure de terre-neuve; heure d’été de terre-neuve;
        heure normale de terre-neuve; hora de terranova; hora de verano de terranova; hora estándar de terranova;
        horário da terra nova; horário de verão da terra nova; horário padrão da terra nova; neufundland-normalzeit;
        neufundland-sommerzeit; neufundland-zeit; newfoundland, normaltid; newfoundland, sommartid;
        newfoundland-standaardtijd; newfoundland-tijd; newfoundland-zomertijd; newfoundlandin aika;
        newfoundlandin kesäaika; newfoundlandin normaaliaika; newfoundlandsk normaltid; newfoundlandsk sommertid;
        newfoundlandsk tid; newfoundlandský letní čas; newfoundlandský standardní čas; newfoundlandský čas;
        newfoundlandtid; normaltid for newfoundland; nowa fundlandia (czas letni);
        nowa fundlandia (czas standardowy); ora di terranova; ora legale di terranova; ora standard di terranova;
        sommertid for newfoundland; tidssone for newfoundland; új-fundlandi idő; új-fundlandi nyári idő;
        új-fundlandi zónaidő; ньюфаундленд; ньюфаундленд, летнее время; ньюфаундленд, стандартное время;
        ニューファンドランド夏時間; ニューファンドランド時間; ニューファンドランド標準時; 纽芬兰夏令时间; 纽芬兰时间;
        纽芬兰标准时间; 뉴펀들랜드 시간; 뉴펀들랜드 표준시; 뉴펀들랜드 하계 표준시
        =America/Anchorage; alaska (czas letni); alaska (czas standardowy); alaska, normaltid; alaska, sommartid;
        alaska-normaltid; alaska-normalzeit; alaska-sommertid; alaska-sommerzeit; alaska-standaardtijd; alaska-tid;
        alaska-tijd; alaska-zeit; alaska-zomertijd; alaskan aika; alaskan kesäaika; alaskan normaaliaika; alaskatid;
        alaskisk normaltid; alaskisk sommertid; alaskisk tid; alaszkai idő; alaszkai nyári idő; alaszkai zónaidő;
        aljašský letní čas; aljašský standardní čas; aljašský čas; czas alaska; heure de l’alaska;
        heure d’été de l’alaska; heure normale de l’alaska; hora de alaska; hora de verano de alaska;
        hora estándar de alaska; horário de verão do alasca; horário do alasca; horário padrão do alasca;
        ora dell’alaska; ora legale dell’alaska; ora standard dell’alaska; аляска; аляска, летнее время;
        аляска, стандартное время; アラスカ夏時間; アラスカ時間; アラスカ標準時; 阿拉斯加夏令时间; 阿拉斯加时间;
        阿拉斯加标准时间; 알래스카 시간; 알래스카 표준시; 알래스카 하계 표준시
        =Pacific/Honolulu; czas hawaje-aleuty; havaijin-aleuttien aika; havaijin-aleuttien kesäaika;
        havaijin-aleuttien normaaliaika; havajsko-aleutský letní čas; havajsko-aleutský standardní čas;
        havajsko-aleutský čas; hawaii-aleoetische standaardtijd; hawaii-aleoetische tijd;
        hawaii-aleoetische zomertijd; hawaii-aleuten-normalzeit; hawaii-aleuten-sommerzeit; hawaii-aleuten-zeit;
        hawaii-aleuti időzóna; hawaii-aleuti nyári idő; hawaii-aleuti téli idő; hawaii-aleutian-normaltid;
        hawaii-aleutian-sommertid; hawaii-aleutian-tid; hawaje-aleuty (czas letni); hawaje-aleuty (czas standardowy);
        heure d’hawaï - aléoutiennes; heure d’été d’hawaï - aléoutiennes; heure normale d’hawaï - aléoutiennes;
        honolulu, normaltid; honolulu, sommartid; honolulutid; hora de hawái-aleutianas;
        hora de verano de hawái-aleutianas; hora estándar de hawái-aleutianas;
        horário de verão do havaí e ilhas aleutas; horário do havaí e ilhas aleutas;
        horário padrão do havaí e ilhas aleutas; normaltid for hawaii og aleutene; ora delle isole hawaii-aleutine;
        ora legale delle isole hawaii-aleutine; ora standard delle isole hawaii-aleutine;
        sommertid for hawaii og aleutene; tidssone for hawaii og aleutene; гавайско-алеутское время;
        гавайско-алеутское летнее время; гавайско-алеутское стандартное время; ハワイ・アリューシャン夏時間;
        ハワイ・アリューシャン時間; ハワイ・アリューシャン標準時; 夏威夷-阿留申夏令时间; 夏威夷-阿留申时间;
        夏威夷-阿留申标准时间; 하와이 알류샨 시간; 하와이 알류샨 표준시; 하와이 알류샨 하계 표준시
        =America/Sao_Paulo; brasilia, normaltid; brasilia, sommartid; brasilian aika; brasilian kesäaika;
        brasilian normaaliaika; brasiliansk normaltid; brasiliansk sommertid; brasiliansk tid; brasiliatid;
        brasilijský letní čas; brasilijský standardní čas; brasilijský čas; brasília (czas letni);
        brasília (czas standardowy); brasília-normalzeit; brasília-sommerzeit; brasília-zeit;
        braziliaanse standaardtijd; braziliaanse tijd; braziliaanse zomertijd; brazíliai idő; brazíliai nyári idő;
        brazíliai téli idő; czas brasília; heure de brasilia; heure d’été de brasilia; heure normale de brasilia;
        hora de brasilia; hora de verano de brasilia; hora estándar de brasilia; horário de brasília;
        horário de verão de brasília; horário padrão de brasília; normaltid for brasilia; ora di brasilia;
        ora legale di brasilia; ora standard di brasilia; sommertid for brasilia; tidssone for brasilia; бразилия;
        бразилия, летнее время; бразилия, стандартное время; ブラジリア夏時間; ブラジリア時間; ブラジリア標準時;
        巴西利亚夏令时间; 巴西利亚时间; 巴西利亚标准时间; 브라질리아 시간; 브라질리아 표준시; 브라질리아 하계 표준시
        """
}
