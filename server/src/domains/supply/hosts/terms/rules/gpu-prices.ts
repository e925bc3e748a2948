/**
 * Median prices per GPU and hour on an open market, in thousandths of a dollar, rounded. The default for a host that
 * has set no price; no charge depends on it.
 */
const MEDIAN_MILLIDOLLARS: Readonly<Record<string, number>> = {
  "GTX 1080 Ti": 60,
  "RTX 2060": 50,
  "RTX 2080 Ti": 110,
  "RTX 3050": 50,
  "RTX 3060": 70,
  "RTX 3060 Ti": 75,
  "RTX 3070": 80,
  "RTX 3080": 115,
  "RTX 3080 Ti": 135,
  "RTX 3090": 187,
  "RTX 3090 Ti": 215,
  "RTX 4060": 85,
  "RTX 4060 Ti": 105,
  "RTX 4070": 120,
  "RTX 4070S": 130,
  "RTX 4070 Ti": 140,
  "RTX 4070S Ti": 170,
  "RTX 4080": 210,
  "RTX 4080S": 225,
  "RTX 4090": 450,
  "RTX 4090D": 390,
  "RTX 5060": 90,
  "RTX 5060 Ti": 120,
  "RTX 5070": 140,
  "RTX 5070 Ti": 185,
  "RTX 5080": 250,
  "RTX 5090": 630,
  "RTX A2000": 70,
  "RTX A4000": 130,
  "RTX A4500": 160,
  "RTX A5000": 230,
  "RTX A6000": 480,
  "RTX 4000Ada": 200,
  "RTX 5000Ada": 420,
  "RTX 6000Ada": 720,
  "RTX PRO 6000 WS": 1_050,
  "RTX PRO 6000 S": 1_100,
  "Q RTX 6000": 180,
  "Q RTX 8000": 260,
  "Tesla P4": 40,
  "Tesla P40": 100,
  "Tesla P100": 80,
  "Tesla T4": 120,
  "Tesla V100": 200,
  A10: 220,
  A10g: 230,
  A16: 120,
  A30: 260,
  A40: 440,
  "A100 PCIE": 800,
  "A100 SXM4": 850,
  L4: 300,
  L40: 680,
  L40S: 750,
  "H100 PCIE": 2_250,
  "H100 NVL": 2_550,
  "H100 SXM": 2_600,
  H200: 3_300,
  "H200 NVL": 3_100,
  "GH200 SXM": 2_000,
  B200: 6_400,
};

const NANOS_PER_MILLIDOLLAR = 1_000_000n;
/** $0.003 an hour per point of the deep-learning score: about the open market's price for a card of that score. */
const NANOS_PER_DLPERF_HOUR = 3_000_000n;
/** Per hour; an unknown model is not valued lower. */
const MILLIDOLLARS_MIN = 50n;

/** The usual price of one GPU and hour by its model; an unknown model is valued by its score. */
export function usualNanosPerHour({ name, dlperf }: { readonly name: string; readonly dlperf: number }): bigint {
  const median = Object.hasOwn(MEDIAN_MILLIDOLLARS, name) ? MEDIAN_MILLIDOLLARS[name] : undefined;
  if (median !== undefined) return BigInt(median) * NANOS_PER_MILLIDOLLAR;
  const byScore = (BigInt(Math.round(dlperf)) * NANOS_PER_DLPERF_HOUR) / NANOS_PER_MILLIDOLLAR;
  return (byScore > MILLIDOLLARS_MIN ? byScore : MILLIDOLLARS_MIN) * NANOS_PER_MILLIDOLLAR;
}
