import type { ForgeComment } from '../../contracts/integrations/forge';
import { type Comment, comment } from '../../contracts/tasks/comment';
import { commentBody, commentNonceIn, commentsToSend, importedComment } from './comment-text';

const nonce = 'a'.repeat(32);
const at = '2026-01-01T00:00:00.000Z';
const issue = { scope: 'github:acme/shop', number: 7 };
const aComment = (fields: Partial<ForgeComment> = {}): ForgeComment => ({
  ...{ id: '1', author: 'mona', body: 'Hello', createdAt: at, updatedAt: at },
  ...fields,
});

describe('a comment of a task at a forge', () => {
  it('names its author without mentioning anyone, and ends in its marker', () => {
    const body = commentBody({ author: '`@team`\n', text: 'Look' }, nonce);
    expect(body).toBe(`**\` @team  \` wrote:**\n\nLook\n\n<!-- runboard-comment:${nonce} -->`);
    expect(commentNonceIn(body)).toBe(nonce);
  });

  it('has no marker but its own', () => {
    const other = `<!-- runboard-comment:${'b'.repeat(32)} -->`;
    expect(commentNonceIn(commentBody({ author: 'ada', text: other }, nonce))).toBe(nonce);
    expect(commentBody({ author: 'ada', text: other }, nonce)).not.toContain(other);
    expect(commentNonceIn('none')).toBeUndefined();
  });
});

describe('a comment of a forge on a task', () => {
  it('is the same one however often it is imported, and another one on another issue', () => {
    const imported = importedComment(aComment(), issue);
    expect(imported).toMatchObject({ author: 'mona', text: 'Hello', source: { name: 'github', id: '1' } });
    expect(importedComment(aComment({ body: 'Edited' }), issue).id).toBe(imported.id);
    expect(importedComment(aComment(), { ...issue, number: 8 }).id).not.toBe(imported.id);
  });

  it.each([
    ['tags and escape sequences', '<script>x</script>\u001b[31mred\u0000', 'xred'],
    ['nothing but a tag', '<br>', '(no text)'],
    ['half a character', '\ud800', '\ufffd'],
  ])('is stored without %s', (_name, body, text) => {
    expect(importedComment(aComment({ body }), issue).text).toBe(text);
  });

  it('ends where a comment of a task has to', () => {
    for (const body of ['x'.repeat(2_001), 'x'.repeat(60_000), '😀'.repeat(2_000)]) {
      const imported = importedComment(aComment({ body, author: 'y'.repeat(300) }), issue);
      expect(comment.safeParse(imported).success).toBe(true);
      expect(imported.text).toMatch(/more text\)$/);
    }
  });
});

describe('the comments that an issue is to get', () => {
  const ours = (id: string, fields: Partial<Comment> = {}): Comment => ({
    ...{ id, author: 'ada', text: 'x', timestamp: at, revision: 1, createdBy: 'user:ada' },
    ...fields,
  });

  it('are those that someone wrote here since they are synchronised, each once', () => {
    const comments = [
      ours('new'),
      ours('sent'),
      ours('old', { timestamp: '2025-12-31T00:00:00.000Z' }),
      ours('imported', { source: { name: 'github', id: '1' } }),
      { ...ours('noted'), createdBy: undefined },
    ];
    const found = commentsToSend(comments, { since: at, sent: ['sent'] });
    expect(found.map(({ id }) => id)).toEqual(['new']);
  });
});
