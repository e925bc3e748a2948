// Amounts of money as people read them.

/** `$0.0123`, `$0.812`, `$118.20`, `-$3.10`: three significant digits below a dollar, cents from there on. */
export function money(dollars: number): string {
  const amount = Math.abs(dollars);
  const sign = dollars < 0 ? "-" : "";
  if (amount === 0) return "$0.00";
  if (amount < 0.000_000_001) return `${sign}$0.00`;
  if (amount >= 0.9995) return `${sign}$${group(amount.toFixed(2))}`;
  const decimals = Math.min(12, 2 - Math.floor(Math.log10(amount)));
  const text = amount.toFixed(decimals).replace(/(\.\d\d\d*?)0+$/, "$1");
  return `${sign}$${text}`;
}

/** A price: an amount with its time, which is always written. */
export function hourly(dollars: number): string {
  return `${money(dollars)}/h`;
}

function group(text: string): string {
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}
