/** Blocks of data: elements of the page, or named by a script beside it, as a page that is opened from a file can load no other data. */

const TYPES = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int32: Int32Array, float32: Float32Array, float64: Float64Array } as const;
export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/** A JSON text and arrays of numbers. */
export interface Part {
  about: unknown;
  arrays: Record<string, Numbers>;
}

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

/** A part that is there already, or is loaded by a script from an address. */
export async function partOf(name: string, address: string): Promise<Part> {
  if (!globalThis.iomineBlocks?.[name]) await loadedScript(address);
  const bytes = held(name);
  if (!bytes) throw new Error("The data are missing. Copy all files, not only the page.");
  // Unpacked once: the text is not needed any more.
  delete globalThis.iomineBlocks?.[name];
  return read(await unpacked(bytes));
}

function loadedScript(address: string): Promise<void> {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", () => {
      script.remove();
      done();
    });
    script.addEventListener("error", () => {
      script.remove();
      failed(new Error("The server or the folder of the page does not give these data."));
    });
    document.head.append(script);
  });
}

/** Length of a JSON text in four bytes, the text, and arrays, each from a multiple of eight bytes on. */
export function read(bytes: ArrayBuffer): Part {
  const length = new DataView(bytes).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as {
    arrays: { name: string; type: keyof typeof TYPES; length: number }[];
  };
  const arrays: Record<string, Numbers> = {};
  let at = 4 + length;
  for (const { name, type, length: count } of about.arrays) {
    at += (8 - (at % 8)) % 8;
    const array = (arrays[name] = new TYPES[type](bytes, at, count));
    at += array.byteLength;
  }
  return { about, arrays };
}
