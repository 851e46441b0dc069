/** A pattern of a caller and the text it is looked for in. */
export interface Search {
  pattern: string;
  flags: string;
  text: string;
}

/** What a thread says of each search, in order. */
export type Found = boolean;
