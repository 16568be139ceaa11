// SPDX-License-Identifier: Apache-2.0

extension LocalisedZones {
    /// The rest of `names`, in the same form.
    static let moreNames = """
        =America/Argentina/Buenos_Aires; argentiinan aika; argentiinan kesäaika; argentiinan normaaliaika;
        argentijnse standaardtijd; argentijnse tijd; argentijnse zomertijd; argentinische normalzeit;
        argentinische sommerzeit; argentinische zeit; argentinsk normaltid; argentinsk sommertid; argentinsk tid;
        argentinský letní čas; argentinský standardní čas; argentinský čas; argentisk tid; argentyna (czas letni);
        argentyna (czas standardowy); argentínai idő; argentínai nyári idő; argentínai téli idő; czas argentyna;
        heure de l’argentine; heure d’été de l’argentine; heure normale d’argentine; hora de argentina;
        hora de verano de argentina; hora estándar de argentina; horário da argentina; horário de verão da argentina;
        horário padrão da argentina; ora dell’argentina; ora legale dell’argentina; ora standard dell’argentina;
        östargentinsk normaltid; östargentinsk sommartid; östargentinsk tid; аргентина; аргентина, летнее время;
        аргентина, стандартное время; アルゼンチン夏時間; アルゼンチン時間; アルゼンチン標準時; 阿根廷夏令时间;
        阿根廷时间; 阿根廷标准时间; 아르헨티나 시간; 아르헨티나 표준시; 아르헨티나 하계 표준시
        =America/Santiago; chile (czas letni); chile (czas standardowy); chileense standaardtijd; chileense tijd;
        chileense zomertijd; chilei időzóna; chilei nyári idő; chilei téli idő; chilen aika; chilen kesäaika;
        chilen normaaliaika; chilenische normalzeit; chilenische sommerzeit; chilenische zeit; chilensk normaltid;
        chilensk sommartid; chilensk sommertid; chilensk tid; chilský letní čas; chilský standardní čas; chilský čas;
        czas chile; heure du chili; heure d’été du chili; heure normale du chili; hora de chile;
        hora de verano de chile; hora estándar de chile; horário de verão do chile; horário do chile;
        horário padrão do chile; ora del cile; ora legale del cile; ora standard del cile; чили; чили, летнее время;
        чили, стандартное время; チリ夏時間; チリ時間; チリ標準時; 智利夏令时间; 智利时间; 智利标准时间; 칠레 시간;
        칠레 표준시; 칠레 하계 표준시
        =America/Bogota; colombiaanse standaardtijd; colombiaanse tijd; colombiaanse zomertijd;
        colombiansk normaltid; colombiansk sommartid; colombiansk sommertid; colombiansk tid; czas kolumbia;
        heure de colombie; heure d’été de colombie; heure normale de colombie; hora de colombia;
        hora de verano de colombia; hora estándar de colombia; horário da colômbia; horário de verão da colômbia;
        horário padrão da colômbia; kolumbia (czas letni); kolumbia (czas standardowy); kolumbiai idő;
        kolumbiai nyári idő; kolumbiai téli idő; kolumbian aika; kolumbian kesäaika; kolumbian normaaliaika;
        kolumbianische normalzeit; kolumbianische sommerzeit; kolumbianische zeit; kolumbijský letní čas;
        kolumbijský standardní čas; kolumbijský čas; ora della colombia; ora legale della colombia;
        ora standard della colombia; колумбия; колумбия, летнее время; колумбия, стандартное время; コロンビア夏時間;
        コロンビア時間; コロンビア標準時; 哥伦比亚夏令时间; 哥伦比亚时间; 哥伦比亚标准时间; 콜롬비아 시간;
        콜롬비아 표준시; 콜롬비아 하계 표준시
        =Asia/Tokyo; czas japonia; heure du japon; heure d’été du japon; heure normale du japon; hora de japón;
        hora de verano de japón; hora estándar de japón; horário de verão do japão; horário do japão;
        horário padrão do japão; japanin aika; japanin kesäaika; japanin normaaliaika; japanische normalzeit;
        japanische sommerzeit; japanische zeit; japanse standaardtijd; japanse tijd; japanse zomertijd;
        japansk normaltid; japansk sommartid; japansk sommertid; japansk tid; japonia (czas letni);
        japonia (czas standardowy); japonský letní čas; japonský standardní čas; japonský čas; japán idő;
        japán nyári idő; japán téli idő; ora del giappone; ora legale del giappone; ora standard del giappone;
        япония; япония, летнее время; япония, стандартное время; 日本夏令时间; 日本夏時間; 日本时间; 日本時間;
        日本标准时间; 日本標準時; 일본 시간; 일본 표준시; 일본 하계 표준시
        =Asia/Seoul; czas korea; heure de la corée; heure d’été de corée; heure normale de la corée; hora de corea;
        hora de verano de corea; hora estándar de corea; horário da coreia; horário de verão da coreia;
        horário padrão da coreia; korea (czas letni); korea (czas standardowy); koreaanse standaardtijd;
        koreaanse tijd; koreaanse zomertijd; koreai idő; koreai nyári idő; koreai téli idő; korean aika;
        korean kesäaika; korean normaaliaika; koreanische normalzeit; koreanische sommerzeit; koreanische zeit;
        koreansk normaltid; koreansk sommartid; koreansk sommertid; koreansk tid; korejský letní čas;
        korejský standardní čas; korejský čas; ora coreana; ora legale coreana; ora standard coreana; корея;
        корея, летнее время; корея, стандартное время; 韓国夏時間; 韓国時間; 韓国標準時; 韩国夏令时间; 韩国时间;
        韩国标准时间; 대한민국 시간; 대한민국 표준시; 대한민국 하계 표준시
        =Asia/Shanghai; chinese standaardtijd; chinese tijd; chinese zomertijd; chinesische normalzeit;
        chinesische sommerzeit; chinesische zeit; chiny (czas letni); chiny (czas standardowy); czas chiny;
        heure de la chine; heure d’été de chine; heure normale de la chine; hora de china; hora de verano de china;
        hora estándar de china; horário da china; horário de verão da china; horário padrão da china; kiinan aika;
        kiinan kesäaika; kiinan normaaliaika; kinesisk normaltid; kinesisk sommartid; kinesisk sommertid;
        kinesisk tid; kínai idő; kínai nyári idő; kínai téli idő; ora della cina; ora legale della cina;
        ora standard della cina; čínský letní čas; čínský standardní čas; čínský čas; китай; китай, летнее время;
        китай, стандартное время; 中国夏令时间; 中国夏時間; 中国时间; 中国時間; 中国标准时间; 中国標準時; 중국 시간;
        중국 표준시; 중국 하계 표준시
        =Asia/Hong_Kong; czas hongkong; heure de hong kong; heure d’été de hong kong; heure normale de hong kong;
        hongkong (czas letni); hongkong (czas standardowy); hongkong, normaltid; hongkong, sommartid;
        hongkong-normaltid; hongkong-normalzeit; hongkong-sommertid; hongkong-sommerzeit; hongkong-tid;
        hongkong-zeit; hongkongi időzóna; hongkongi nyári idő; hongkongi téli idő; hongkongin aika;
        hongkongin kesäaika; hongkongin normaaliaika; hongkongse standaardtijd; hongkongse tijd;
        hongkongse zomertijd; hongkongský letní čas; hongkongský standardní čas; hongkongský čas; hongkongtid;
        hora de hong kong; hora de verano de hong kong; hora estándar de hong kong; horário de hong kong;
        horário de verão de hong kong; horário padrão de hong kong; normaltid for hongkong; ora di hong kong;
        ora legale di hong kong; ora standard di hong kong; sommertid for hongkong; tidssone for hongkong; гонконг;
        гонконг, летнее время; гонконг, стандартное время; 香港夏令时间; 香港夏時間; 香港时间; 香港時間;
        香港标准时间; 香港標準時; 홍콩 시간; 홍콩 표준시; 홍콩 하계 표준시
        =Asia/Taipei; czas tajpej; heure de taipei; heure d’été de taipei; heure normale de taipei; hora de taipéi;
        hora de verano de taipéi; hora estándar de taipéi; horário de taipei; horário de verão de taipei;
        horário padrão de taipei; normaltid for taipei; ora di taipei; ora legale di taipei; ora standard di taipei;
        sommertid for taipei; taipeh-normalzeit; taipeh-sommerzeit; taipeh-zeit; taipei idő; taipei nyári idő;
        taipei téli idő; taipei, normaltid; taipei, sommartid; taipei-normaltid; taipei-sommertid;
        taipei-standaardtijd; taipei-tid; taipei-tijd; taipei-zomertijd; taipein aika; taipein kesäaika;
        taipein normaaliaika; taipeitid; tajpej (czas letni); tajpej (czas standardowy); tchajpejský letní čas;
        tchajpejský standardní čas; tchajpejský čas; tidssone for taipei; тайвань; тайвань, летнее время;
        тайвань, стандартное время; 台北夏令时间; 台北夏時間; 台北时间; 台北時間; 台北标准时间; 台北標準時;
        대만 시간; 대만 표준시; 대만 하계 표준시
        =Asia/Singapore; czas singapur; heure de singapour; hora de singapur; horário padrão de singapura;
        ora di singapore; singapore-tid; singaporen aika; singaporese standaardtijd; singaporetid; singaporsk tid;
        singapurische normalzeit; singapurský čas; szingapúri téli idő; сингапур; シンガポール標準時; 新加坡标准时间;
        싱가포르 표준시
        =Asia/Kolkata; czas indyjski standardowy; heure de l’inde; hora estándar de la india;
        horário padrão da índia; indiai téli idő; indiase tijd; indický čas; indische normalzeit; indisk normaltid;
        indisk tid; intian aika; ora standard dell’india; индия; インド標準時; 印度时间; 인도 표준시
        =Asia/Jerusalem; czas izrael; heure d’israël; heure d’été d’israël; heure normale d’israël;
        hora de israel; hora de verano de israel; hora estándar de israel; horário de israel;
        horário de verão de israel; horário padrão de israel; israelin aika; israelin kesäaika;
        israelin normaaliaika; israelische normalzeit; israelische sommerzeit; israelische zeit; israelisk normaltid;
        israelisk sommartid; israelisk tid; israelsk normaltid; israelsk sommertid; israelsk tid;
        israëlische standaardtijd; israëlische tijd; israëlische zomertijd; izrael (czas letni);
        izrael (czas standardowy); izraeli idő; izraeli nyári idő; izraeli téli idő; izraelský letní čas;
        izraelský standardní čas; izraelský čas; ora di israele; ora legale di israele; ora standard di israele;
        израиль; израиль, летнее время; израиль, стандартное время; イスラエル夏時間; イスラエル時間;
        イスラエル標準時; 以色列夏令时间; 以色列时间; 以色列标准时间; 이스라엘 시간; 이스라엘 표준시;
        이스라엘 하계 표준시
        =Asia/Riyadh; arab idő; arab nyári idő; arab téli idő; arabische normalzeit; arabische sommerzeit;
        arabische standaardtijd; arabische tijd; arabische zeit; arabische zomertijd; arabisk normaltid;
        arabisk sommertid; arabisk standardtid; arabisk tid; arabský letní čas; arabský standardní čas; arabský čas;
        czas półwysep arabski; heure de l’arabie; heure d’été de l’arabie; heure normale de l’arabie;
        hora de arabia; hora de verano de arabia; hora estándar de arabia; horário da arábia;
        horário de verão da arábia; horário padrão da arábia; ora araba; ora legale araba; ora standard araba;
        półwysep arabski (czas letni); półwysep arabski (czas standardowy); saudi-arabian aika;
        saudi-arabian kesäaika; saudi-arabian normaaliaika; saudiarabisk normaltid; saudiarabisk sommartid;
        saudiarabisk tid; саудовская аравия; саудовская аравия, летнее время; саудовская аравия, стандартное время;
        アラビア夏時間; アラビア時間; アラビア標準時; 阿拉伯夏令时间; 阿拉伯时间; 阿拉伯标准时间; 아라비아 시간;
        아라비아 표준시; 아라비아 하계 표준시
        =Asia/Dubai; arabiemiirikuntien normaaliaika; czas zatoka perska; golf-standaardtijd; golf-zeit;
        golflandene-normaltid; heure du golfe; hora estándar del golfo; horário do golfo; ora del golfo;
        persiska vikentid; standardní čas perského zálivu; tidssone for persiabukta; öbölbeli téli idő;
        персидский залив; 海湾标准时间; 湾岸標準時; 걸프만 표준시
        =Africa/Johannesburg; czas południowoafrykański; dél-afrikai téli idő; etelä-afrikan aika;
        heure normale d’afrique méridionale; hora de sudáfrica; horário da áfrica do sul; jihoafrický čas;
        ora dell’africa meridionale; sydafrikansk tid; sørafrikansk tid; südafrikanische zeit; zuid-afrikaanse tijd;
        южная африка; 南アフリカ標準時; 南非标准时间; 남아프리카 시간
        =Australia/Sydney; czas wschodnioaustralijski; czas wschodnioaustralijski letni;
        czas wschodnioaustralijski standardowy; heure de l’est de l’australie;
        heure d’été de l’est de l’australie; heure normale de l’est de l’australie; hora de australia oriental;
        hora de verano de australia oriental; hora estándar de australia oriental; horário da austrália oriental;
        horário de verão da austrália oriental; horário padrão da austrália oriental; itä-australian aika;
        itä-australian kesäaika; itä-australian normaaliaika; kelet-ausztráliai idő; kelet-ausztráliai nyári idő;
        kelet-ausztráliai téli idő; oost-australische standaardtijd; oost-australische tijd;
        oost-australische zomertijd; ora dell’australia orientale; ora legale dell’australia orientale;
        ora standard dell’australia orientale; ostaustralische normalzeit; ostaustralische sommerzeit;
        ostaustralische zeit; východoaustralský letní čas; východoaustralský standardní čas; východoaustralský čas;
        östaustralisk normaltid; östaustralisk sommartid; östaustralisk tid; østaustralsk normaltid;
        østaustralsk sommertid; østaustralsk tid; восточная австралия; восточная австралия, летнее время;
        восточная австралия, стандартное время; オーストラリア東部夏時間; オーストラリア東部時間;
        オーストラリア東部標準時; 澳大利亚东部夏令时间; 澳大利亚东部时间; 澳大利亚东部标准时间;
        오스트레일리아 동부 시간; 오스트레일리아 동부 표준시; 오스트레일리아 동부 하계 표준시
        =Australia/Adelaide; centralaustralisk normaltid; centralaustralisk sommartid; centralaustralisk tid;
        centralaustralsk normaltid; centralaustralsk sommertid; centralaustralsk tid; czas środkowoaustralijski;
        czas środkowoaustralijski letni; czas środkowoaustralijski standardowy; heure du centre de l’australie;
        heure d’été du centre de l’australie; heure normale du centre de l’australie; hora de australia central;
        hora de verano de australia central; hora estándar de australia central; horário da austrália central;
        horário de verão da austrália central; horário padrão da austrália central; keski-australian aika;
        keski-australian kesäaika; keski-australian normaaliaika; közép-ausztráliai idő; közép-ausztráliai nyári idő;
        közép-ausztráliai téli idő; midden-australische standaardtijd; midden-australische tijd;
        midden-australische zomertijd; ora dell’australia centrale; ora legale dell’australia centrale;
        ora standard dell’australia centrale; sentralaustralsk normaltid; sentralaustralsk sommertid;
        sentralaustralsk tid; středoaustralský letní čas; středoaustralský standardní čas; středoaustralský čas;
        zentralaustralische normalzeit; zentralaustralische sommerzeit; zentralaustralische zeit;
        центральная австралия; центральная австралия, летнее время; центральная австралия, стандартное время;
        オーストラリア中部夏時間; オーストラリア中部時間; オーストラリア中部標準時; 澳大利亚中部夏令时间;
        澳大利亚中部时间; 澳大利亚中部标准时间; 오스트레일리아 중부 시간; 오스트레일리아 중부 표준시;
        오스트레일리아 중부 하계 표준시
        =Australia/Perth; czas zachodnioaustralijski; czas zachodnioaustralijski letni;
        czas zachodnioaustralijski standardowy; heure de l’ouest de l’australie;
        heure d’été de l’ouest de l’australie; heure normale de l’ouest de l’australie;
        hora de australia occidental; hora de verano de australia occidental; hora estándar de australia occidental;
        horário da austrália ocidental; horário de verão da austrália ocidental;
        horário padrão da austrália ocidental; länsi-australian aika; länsi-australian kesäaika;
        länsi-australian normaaliaika; nyugat-ausztráliai idő; nyugat-ausztráliai nyári idő;
        nyugat-ausztráliai téli idő; ora dell’australia occidentale; ora legale dell’australia occidentale;
        ora standard dell’australia occidentale; vestaustralsk normaltid; vestaustralsk sommertid;
        vestaustralsk tid; västaustralisk normaltid; västaustralisk sommartid; västaustralisk tid;
        west-australische standaardtijd; west-australische tijd; west-australische zomertijd;
        westaustralische normalzeit; westaustralische sommerzeit; westaustralische zeit; západoaustralský letní čas;
        západoaustralský standardní čas; západoaustralský čas; западная австралия; западная австралия, летнее время;
        западная австралия, стандартное время; オーストラリア西部夏時間; オーストラリア西部時間;
        オーストラリア西部標準時; 澳大利亚西部夏令时间; 澳大利亚西部时间; 澳大利亚西部标准时间;
        오스트레일리아 서부 시간; 오스트레일리아 서부 표준시; 오스트레일리아 서부 하계 표준시
        =Pacific/Auckland; czas nowa zelandia; heure de la nouvelle-zélande; heure d’été de la nouvelle-zélande;
        heure normale de la nouvelle-zélande; hora de nueva zelanda; hora de verano de nueva zelanda;
        hora estándar de nueva zelanda; horário da nova zelândia; horário de verão da nova zelândia;
        horário padrão da nova zelândia; neuseeland-normalzeit; neuseeland-sommerzeit; neuseeland-zeit;
        newzealandsk normaltid; newzealandsk sommertid; newzealandsk tid; nieuw-zeelandse standaardtijd;
        nieuw-zeelandse tijd; nieuw-zeelandse zomertijd; novozélandský letní čas; novozélandský standardní čas;
        novozélandský čas; nowa zelandia (czas letni); nowa zelandia (czas standardowy); nyzeeländsk normaltid;
        nyzeeländsk sommartid; nyzeeländsk tid; ora della nuova zelanda; ora legale della nuova zelanda;
        ora standard della nuova zelanda; uuden-seelannin aika; uuden-seelannin kesäaika;
        uuden-seelannin normaaliaika; új-zélandi idő; új-zélandi nyári idő; új-zélandi téli idő; новая зеландия;
        новая зеландия, летнее время; новая зеландия, стандартное время; ニュージーランド夏時間;
        ニュージーランド時間; ニュージーランド標準時; 新西兰夏令时间; 新西兰时间; 新西兰标准时间; 뉴질랜드 시간;
        뉴질랜드 표준시; 뉴질랜드 하계 표준시
        """
}
