/** Blocks of data: elements of the page, or named by a script beside it, as a page that is opened from a file can load no other data. */

declare global {
  /** Blocks by name. */
  var iomineBlocks: Record<string, string> | undefined;
}

/** The bytes of a block; undefined where there is none. */
export function held(name: string): Uint8Array<ArrayBuffer> | undefined {
  const found = document.getElementById(name)?.textContent ?? globalThis.iomineBlocks?.[name];
  if (found === undefined) return undefined;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(found);
  // Browsers before 2025 have no `fromBase64`.
  const text = atob(found);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export function unpacked(packed: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
