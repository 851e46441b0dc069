/** What a thread is to look at. */
export interface Look {
  path: string;
  /** Lower case, without the dot. */
  extension: string;
  maxTextLength: number;
}

/** What it says: first whether the file may be attached, then its text, if it finds any. */
export type Finding =
  { kind: 'accepted'; mimeType: string } | { kind: 'refused'; reason: string } | { kind: 'text'; text: string };
