// Centres of countries, for machines of which only the country is known: whole degrees, north and east positive.
const MIDDLES =
  "AD 42 2 AE 24 54 AF 34 66 AG 17 -62 AI 18 -63 AL 41 20 AM 40 45 AO -12 18 AQ -83 0 AR -34 -64 AS -14 -170 AT 47 14 " +
  "AU -25 134 AW 12 -70 AX 60 20 AZ 40 48 BA 44 18 BB 13 -60 BD 24 90 BE 51 4 BF 12 -2 BG 43 25 BH 26 51 BI -3 30 " +
  "BJ 9 2 BL 18 -63 BM 32 -65 BN 5 115 BO -17 -65 BQ 12 -68 BR -10 -55 BS 24 -76 BT 27 90 BW -22 24 BY 53 28 BZ 17 -89 " +
  "CA 57 -106 CC -12 97 CD -3 24 CF 7 21 CG -1 15 CH 47 8 CI 8 -6 CK -21 -160 CL -31 -71 CM 6 13 CN 35 103 CO 4 -73 " +
  "CR 10 -84 CU 22 -79 CV 16 -24 CW 12 -69 CX -10 106 CY 35 33 CZ 50 15 DE 51 10 DJ 12 43 DK 56 10 DM 15 -61 DO 19 -70 " +
  "DZ 28 3 EC -2 -78 EE 59 26 EG 27 30 EH 25 -13 ER 15 39 ES 40 -4 ET 8 40 FI 64 26 FJ -18 178 FK -52 -60 FM 7 158 " +
  "FO 62 -7 FR 47 2 GA -1 12 GB 54 -2 GD 12 -62 GE 42 43 GF 4 -53 GG 49 -3 GH 8 -1 GI 36 -5 GL 72 -40 GM 13 -15 " +
  "GN 10 -11 GP 16 -62 GQ 2 10 GR 39 22 GS -54 -37 GT 16 -90 GU 13 145 GW 12 -15 GY 5 -59 HK 22 114 HN 15 -87 " +
  "HR 45 16 HT 19 -72 HU 47 19 ID -2 118 IE 53 -8 IL 31 35 IM 54 -5 IN 22 79 IO -7 72 IQ 33 44 IR 32 53 IS 65 -18 " +
  "IT 43 12 JE 49 -2 JM 18 -77 JO 31 36 JP 36 138 KE 0 38 KG 41 75 KH 13 105 KI 1 173 KM -12 44 KN 17 -63 KP 40 127 " +
  "KR 36 128 KW 29 48 KY 19 -81 KZ 48 67 LA 18 103 LB 34 36 LC 14 -61 LI 47 10 LK 7 81 LR 6 -9 LS -30 28 LT 55 24 " +
  "LU 50 6 LV 57 25 LY 27 17 MA 32 -6 MC 44 7 MD 47 28 ME 43 19 MF 18 -63 MG -19 47 MH 7 171 MK 42 22 ML 17 -4 " +
  "MM 21 96 MN 47 104 MO 22 114 MP 15 146 MQ 15 -61 MR 20 -11 MS 17 -62 MT 36 14 MU -20 57 MV 3 73 MW -13 34 " +
  "MX 23 -102 MY 4 109 MZ -18 35 NA -22 17 NC -21 165 NE 17 8 NF -29 168 NG 9 8 NI 13 -85 NL 52 5 NO 61 9 NP 28 84 " +
  "NR -1 167 NU -19 -170 NZ -42 173 OM 21 56 PA 9 -80 PE -9 -75 PF -18 -149 PG -6 145 PH 12 122 PK 30 70 PL 52 19 " +
  "PM 47 -56 PN -25 -130 PR 18 -66 PS 32 35 PT 40 -8 PW 7 134 PY -23 -58 QA 25 51 RE -21 56 RO 46 25 RS 44 21 " +
  "RU 60 90 RW -2 30 SA 24 45 SB -9 160 SC -5 55 SD 15 30 SE 62 15 SG 1 104 SH -16 -6 SI 46 15 SJ 78 16 SK 49 20 " +
  "SL 8 -12 SM 44 12 SN 14 -14 SO 6 46 SR 4 -56 SS 7 30 ST 0 7 SV 14 -89 SX 18 -63 SY 35 38 SZ -27 31 TC 22 -72 " +
  "TD 15 19 TF -49 69 TG 9 1 TH 15 101 TJ 39 71 TK -9 -172 TL -9 126 TM 39 59 TN 34 9 TO -21 -175 TR 39 35 TT 11 -61 " +
  "TV -8 178 TW 24 121 TZ -6 35 UA 49 31 UG 1 32 UM 19 167 US 39 -98 UY -33 -56 UZ 41 64 VA 42 12 VC 13 -61 VE 7 -66 " +
  "VG 18 -65 VI 18 -65 VN 16 107 VU -16 167 WF -13 -176 WS -14 -172 XK 43 21 YE 15 48 YT -13 45 ZA -29 25 ZM -13 28 " +
  "ZW -19 30";

export type Point = { readonly latitude: number; readonly longitude: number };

const middles = new Map(
  Array.from(
    MIDDLES.matchAll(/([A-Z]{2}) (-?\d+) (-?\d+)/g),
    ([, code = "", latitude, longitude]): readonly [string, Point] => [
      code,
      { latitude: Number(latitude), longitude: Number(longitude) },
    ],
  ),
);

/** The centre of a country by its two letters; undefined when there is no such country. */
export function middleOf(countryCode: string): Point | undefined {
  return middles.get(countryCode);
}
