/** A pattern of a caller and the text to search. */
export interface Search {
  pattern: string;
  flags: string;
  text: string;
}

/** A thread's result of each search, in order. */
export type Found = boolean;
