import type { RunRecord } from '../run';
import { runPresenter } from './present';

const queued: RunRecord = {
  _id: 'r1',
  status: 'queued',
  workflow: { name: 'Ship', slug: 'ship' },
  title: 'Ship it',
  dot_source: '',
  created_by: 'ann',
  created_at: '2026-03-01T12:00:00.000Z',
  stages: [],
  context: {},
  guidance: [],
  revision: 0,
};
const present = (run: RunRecord, position: number) =>
  runPresenter({ runs: { queuePosition: () => Promise.resolve(position) }, now: () => new Date(0) })(run);

describe('a run as its callers see it', () => {
  it('has its place in the queue', async () => {
    expect(await present(queued, 2)).toMatchObject({ status: 'queued', queue_position: 2 });
  });

  it('has no place once it was started since its record was read', async () => {
    expect(await present(queued, 0)).not.toHaveProperty('queue_position');
    expect(await present({ ...queued, status: 'running' }, 1)).not.toHaveProperty('queue_position');
  });
});
