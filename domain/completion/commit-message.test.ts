import { commitMessage, commitSubject } from './commit-message';

const subject = { taskId: 'task_1', attemptId: 'attempt_1', title: 'Add a parser', summary: 'Done.\nIt parses.' };

describe('message of a commit of uncommitted work', () => {
  test('has title, summary and trailers', () => {
    expect(commitMessage({ ...subject, coAuthor: { type: 'bee', name: 'Busy <b@x> Bee' } })).toBe(
      'Add a parser\n\nDone.\nIt parses.\n\nBoard-Task: task_1\nBoard-Attempt: attempt_1\n' +
        'Co-authored-by: Busy b@x Bee <bee@agents.localhost>\n',
    );
    expect(commitMessage({ ...subject, summary: ' ' })).toBe(
      'Add a parser\n\nBoard-Task: task_1\nBoard-Attempt: attempt_1\n',
    );
  });

  test('has one subject line without control characters, whatever the title', () => {
    expect(commitSubject({ ...subject, title: 'a\0b\n\nBoard-Task: forged' })).toBe('a b Board-Task: forged');
    expect(commitSubject({ ...subject, title: '\u0001 ' })).toBe('Work of attempt_1');
    expect(commitSubject({ ...subject, title: `${'x'.repeat(70)}😀yz` })).toBe(`${'x'.repeat(70)}…`);
    expect(commitMessage({ ...subject, summary: 'a\0b\u001b[31m' })).toContain('\n\na b [31m\n\n');
  });
});
