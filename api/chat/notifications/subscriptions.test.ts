import { aTask } from '../../../test/support/factories/task';
import { subscriptionsOf } from './subscriptions';

const comment = {
  id: 'comment_1',
  author: 'ada',
  text: 'Look, @bee',
  timestamp: '2026-01-01T00:00:00.000Z',
  revision: 1,
};

describe('the subscribers of a task', () => {
  it('are those who comment and those whom a comment mentions', () => {
    expect(subscriptionsOf({ ...aTask({}), comments: [comment] })).toMatchObject([
      { agent: 'ada', reasons: ['commented'] },
      { agent: 'bee', reasons: ['mentioned'] },
    ]);
  });

  it('are none that a comment of a forge names', () => {
    const imported = { ...comment, source: { name: 'github', id: '1' } };
    expect(subscriptionsOf({ ...aTask({}), comments: [imported] })).toEqual([]);
  });
});
