/** The file is more than is read, as its own parser detected before anything else did. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}
