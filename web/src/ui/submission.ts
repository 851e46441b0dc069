/** What the handler of a form needs of its event, whether a button or a key has caused it. */
export interface Submission {
  preventDefault: () => void;
}
