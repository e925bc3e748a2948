/** Programs by a word of their header. The first that fits counts, since browsers also name those that they resemble. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|Opera)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Headless)?(?:Chrome|Chromium|CriOS)\//, "Chrome"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
  [/^Wget\//, "Wget"],
  [/^python/i, "Python"],
  [/^(?:node|undici)\b/, "Node.js"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** Characters of a header that are looked at; it is any text of the sender. */
const LOOKED_AT = 512;

export type Device = { readonly browser: string | undefined; readonly system: string | undefined };

/** The program and system that a `User-Agent` header claims, in words of ours; undefined for those that are not known. */
export function deviceOf(userAgent: string | undefined): Device {
  const text = (userAgent ?? "").slice(0, LOOKED_AT);
  const named = (words: typeof BROWSERS) => words.find(([pattern]) => pattern.test(text))?.[1];
  return { browser: named(BROWSERS), system: named(SYSTEMS) };
}
