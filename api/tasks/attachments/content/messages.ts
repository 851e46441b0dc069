/** The file that a process is to examine. */
export interface Look {
  path: string;
  /** Lower case, without the dot. */
  extension: string;
  maxTextLength: number;
}

/** Why there is no text: reading it takes more than is allowed, or its parser fails. */
export type TextProblem = 'limit' | 'unreadable';

/** Its messages: first whether the file may be attached, then its text, if there is any, or why not. */
export type Finding =
  | { kind: 'accepted'; mimeType: string }
  | { kind: 'refused'; reason: string }
  | { kind: 'text'; text: string }
  | { kind: 'no-text'; problem: TextProblem };
