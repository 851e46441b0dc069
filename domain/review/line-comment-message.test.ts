import type { LineComment } from '../../contracts/tasks/line-comment';
import { lineCommentMessage } from './line-comment-message';

const comment = (fields: Partial<LineComment>): LineComment => ({
  id: 'linecomment_000000000001',
  taskId: 'TASK-1',
  path: 'a.ts',
  side: 'new',
  body: 'Why?',
  author: 'jo',
  state: 'open',
  revision: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'user:jo',
  updatedAt: '2026-01-01T00:00:00.000Z',
  updatedBy: 'user:jo',
  ...fields,
});

describe('the message with the comments of a review', () => {
  it('has them by file and line, with what stands there', () => {
    const message = lineCommentMessage(
      [
        comment({ path: 'b.ts', line: 3, startLine: 2, excerpt: 'a\nb', body: 'Two\nlines' }),
        comment({ line: 9, side: 'old', commit: 'c'.repeat(40) }),
        comment({ line: 2, body: 'First' }),
      ],
      'Please.',
    );
    expect(message).toBe(
      [
        'Please.',
        'Comments on your changes from a review. Address each of them.',
        '1. a.ts:2\n   First',
        '2. a.ts:9 (before the change) at cccccccccccc\n   Why?',
        '3. b.ts:2-3\n   > a\n   > b\n   Two\n   lines',
      ].join('\n\n'),
    );
  });

  it('keeps a name with a line end on one line', () => {
    expect(lineCommentMessage([comment({ path: 'a\n2. b' })])).toContain('\n1. "a\\n2. b"\n');
  });
});
