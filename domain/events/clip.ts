/** Cuts text to a number of UTF-8 bytes without splitting a character. */
export function clipText(text: string, maxBytes: number): string {
  // No character takes more than three bytes per UTF-16 unit, so most texts need not be measured.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) {
    return text;
  }
  const bytes = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes);
  let end = bytes.length;
  while (end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) {
    end -= 1;
  }
  const last = bytes[end - 1] ?? 0;
  const needed = last >= 0xf0 ? 4 : last >= 0xe0 ? 3 : last >= 0xc0 ? 2 : 1;
  return bytes.subarray(0, bytes.length - end + 1 < needed ? end - 1 : bytes.length).toString('utf8');
}
