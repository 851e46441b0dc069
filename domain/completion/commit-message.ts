import { cut } from '../../platform/text/cut';

/** Who made the work of a commit that Runboard makes, and for what. */
export interface CommitSubject {
  taskId: string;
  attemptId: string;
  title: string;
  summary: string;
  /** Absent: no `Co-authored-by`. */
  coAuthor?: { type: string; name: string } | undefined;
}

/** The longest subject line, in characters. */
const subjectLimit = 72;

/** The longest summary, in characters. */
const summaryLimit = 2_000;

const withoutControls = (text: string): string => text.replace(/[\u0000-\u0009\u000b-\u001f\u007f]/g, ' ');

/** The first line of the commit: the title of the task. */
export function commitSubject({ title, attemptId }: Pick<CommitSubject, 'title' | 'attemptId'>): string {
  const line = withoutControls(title).replace(/\s+/g, ' ').trim();
  const subject = line.length <= subjectLimit ? line : `${cut(line, subjectLimit - 1).trimEnd()}…`;
  return subject || `Work of ${attemptId}`;
}

/** The message of the commit of what an agent left uncommitted: title, summary, and trailers that name task, run and agent. */
export function commitMessage(subject: CommitSubject): string {
  const summary = cut(withoutControls(subject.summary).trim(), summaryLimit).trimEnd();
  const { coAuthor } = subject;
  const name =
    coAuthor &&
    (withoutControls(coAuthor.name)
      .replace(/[<>\s]+/g, ' ')
      .trim() ||
      coAuthor.type);
  const trailers = [
    `Board-Task: ${subject.taskId}`,
    `Board-Attempt: ${subject.attemptId}`,
    ...(coAuthor ? [`Co-authored-by: ${name} <${coAuthor.type}@agents.localhost>`] : []),
  ];
  return `${[commitSubject(subject), ...(summary === '' ? [] : [summary]), trailers.join('\n')].join('\n\n')}\n`;
}
