/** The beginning of a text, of at most `max` UTF-16 units and without half a character at its end. */
export function cut(text: string, max: number): string {
  if (text.length <= max) {
    return text;
  }
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(max - 1)) && /[\udc00-\udfff]/.test(text.charAt(max));
  return text.slice(0, splitsPair ? max - 1 : max);
}
