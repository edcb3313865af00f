/** Formats numbers for people. */

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;
const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Bytes with a binary unit: 1536 is `1.5 KiB`. */
export function bytes(count: number): string {
  const unit = Math.min(Math.max(Math.floor(Math.log2(Math.max(Math.abs(count), 1)) / 10), 0), BYTE_UNITS.length - 1);
  return `${digits(count / 1024 ** unit)} ${BYTE_UNITS[unit]}`;
}

/** An OST by its index and its name in Lustre, which has the index in hexadecimal: 19 is `19 (OST0013)`. */
export function ost(index: number): string {
  return `${index} (OST${index.toString(16).padStart(4, "0")})`;
}

/** A whole number with separators. (`toLocaleString` takes a tenth of a second on its first call.) */
export function whole(count: number): string {
  return Math.round(count)
    .toFixed()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Such as `1 request`, `2 requests`. */
export function counted(count: number, what: string): string {
  return `${whole(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** A duration with a unit: 0.0021 is `2.1 ms`. */
export function seconds(value: number): string {
  if (value < 1e-3) return `${digits(value * 1e6)} µs`;
  if (value < 1) return `${digits(value * 1e3)} ms`;
  if (value < 2 * MINUTE) return `${digits(value)} s`;
  if (value < 2 * HOUR) return `${Math.floor(value / MINUTE)} min ${Math.floor(value % MINUTE)} s`;
  return `${Math.floor(value / HOUR)} h ${Math.floor((value % HOUR) / MINUTE)} min`;
}

/**
 * A time since the start of the run, with enough decimals to distinguish two times that differ by `step` seconds:
 * `75.25 s`, and after ten minutes `12:05.5` or `3:20:00`.
 */
export function clock(value: number, step: number): string {
  const decimals = Math.min(Math.max(Math.ceil(-Math.log10(step) - 1e-9), 0), 6);
  // Rounded first: 719.96 s is 12:00.0, not 11:60.0.
  value = Number(value.toFixed(decimals));
  if (value <= 10 * MINUTE) return `${value.toFixed(decimals)} s`;
  const hours = Math.floor(value / HOUR);
  const minutes = Math.floor((value - hours * HOUR) / MINUTE);
  const rest = (value - hours * HOUR - minutes * MINUTE).toFixed(decimals).padStart(decimals > 0 ? decimals + 3 : 2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Lines of CSV; a text that a spreadsheet would take for a formula gets an apostrophe. */
export function csvOf(lines: (number | string)[][]): string {
  const cell = (value: number | string): string => {
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

/** About three digits. */
function digits(value: number): string {
  const decimals = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(decimals).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}
