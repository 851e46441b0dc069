import type { RunRecord, Stage } from '../runs/run';
import { failureKind } from './friction';
import { endOfRun, retroItemOf, retroOf, smoothnessOf } from './retro';

const stage = (fields: Partial<Stage> = {}): Stage => ({
  id: 'build',
  name: 'Build',
  kind: 'codergen',
  status: 'completed',
  duration_secs: 1.5,
  dot_id: 'build',
  retries: 0,
  ...fields,
});
const stages = (count: number, fields: Partial<Stage>[] = []): Stage[] =>
  Array.from({ length: count }, (_, at) => stage({ id: `n${at}`, dot_id: `n${at}`, ...fields[at] }));

const run = (fields: Partial<RunRecord> = {}): RunRecord => ({
  _id: '01HZ0000000000000000000000',
  status: 'completed',
  workflow: { name: 'Ship', slug: 'ship' },
  title: 'Ship it',
  dot_source: 'digraph {}',
  created_by: 'ann',
  created_at: '2026-03-01T12:00:00.000Z',
  started_at: '2026-03-01T12:00:01.000Z',
  ended_at: '2026-03-01T12:00:11.500Z',
  stages: [stage()],
  context: {},
  guidance: [],
  revision: 1,
  ...fields,
});

const failed = { status: 'failed' } as const;
describe('workflow-run retro', () => {
  it.each<[string | undefined, string, Pick<RunRecord, 'status' | 'stages'>]>([
    ['effortless', 'nothing went wrong', { status: 'completed', stages: stages(3) }],
    ['effortless', 'there was nothing to do', { status: 'completed', stages: [] }],
    ['smooth', 'one retry', { status: 'completed', stages: stages(2, [{ retries: 1 }]) }],
    ['smooth', 'a retry for every five stages', { status: 'completed', stages: stages(10, [{ retries: 2 }]) }],
    ['bumpy', 'more retries than that', { status: 'completed', stages: stages(10, [{ retries: 3 }]) }],
    ['bumpy', 'a stage that failed', { status: 'completed', stages: stages(5, [failed]) }],
    ['bumpy', 'as much trouble as is allowed', { status: 'completed', stages: stages(2, [{ retries: 2 }]) }],
    [
      'struggled',
      'more than half as much trouble',
      { status: 'completed', stages: stages(4, [{ retries: 2 }, failed]) },
    ],
    ['failed', 'the run failed', { status: 'failed', stages: stages(3) }],
    [undefined, 'the run was cancelled', { status: 'cancelled', stages: stages(3) }],
  ])('calls a run %s: %s', (smoothness, _why, record) => {
    expect(smoothnessOf(record)).toBe(smoothness);
  });

  it.each([
    ['timeout', 'codergen', 'the model timed out after 30 s'],
    ['timeout', 'codergen', 'deadline exceeded'],
    ['ambiguity', 'codergen', 'The goal is ambiguous.'],
    ['tool_failure', 'codergen', 'command exited with 2'],
    ['tool_failure', 'tool', 'no luck'],
    ['wrong_approach', 'codergen', 'two tests are red'],
    ['wrong_approach', 'codergen', undefined],
  ])('calls it %s when a stage of kind %s fails with %s', (kind, stageKind, failure_reason) => {
    expect(failureKind({ kind: stageKind, failure_reason })).toBe(kind);
  });

  it('reports nothing while a run has not ended', () => {
    expect(retroOf(run({ status: 'running' }))).toBeUndefined();
    expect(retroOf(run({ status: 'paused' }))).toBeUndefined();
  });

  it('reports what the record holds, and omits what it does not', () => {
    expect(retroOf(run())).toEqual({
      run_id: '01HZ0000000000000000000000',
      workflow_name: 'Ship',
      goal: '',
      timestamp: '2026-03-01T12:00:11.500Z',
      smoothness: 'effortless',
      stages: [
        {
          stage_id: 'build',
          stage_label: 'Build',
          status: 'completed',
          duration_ms: 1500,
          retries: 0,
          files_touched: [],
        },
      ],
      stats: { total_duration_ms: 10_500, total_retries: 0, files_touched: [], stages_completed: 1, stages_failed: 0 },
      friction_points: [],
      open_items: [],
    });
  });

  it('adds up costs, and reports the goal and the last answer', () => {
    const usage = { input_tokens: 1, output_tokens: 1, cost: 0.1 };
    const retro = retroOf(
      run({
        goal: 'Ship',
        stages: [stage({ usage, notes: 'planned' }), stage({ usage: { ...usage, cost: 0.2 }, notes: 'built' })],
      }),
    );
    expect(retro).toMatchObject({ goal: 'Ship', intent: 'Ship', outcome: 'built', stats: { total_cost: 0.3 } });
    expect(retro?.stages.map(({ cost }) => cost)).toEqual([0.1, 0.2]);
  });

  it('names friction and what is left to do', () => {
    const retro = retroOf(
      run({
        status: 'failed',
        error: { message: 'Test failed.' },
        stages: [
          stage({ id: 'build', name: 'Build', status: 'failed', failure_reason: 'timed out', retries: 2 }),
          stage({ id: 'build.2', name: 'Build' }),
          stage({ id: 'test', dot_id: 'test', name: 'Test', status: 'failed' }),
          stage({ id: 'docs', dot_id: 'docs', name: 'Docs', status: 'cancelled' }),
        ],
      }),
    );
    expect(retro).toMatchObject({ smoothness: 'failed', outcome: 'Test failed.' });
    expect(retro?.friction_points).toEqual([
      { kind: 'retry', description: 'Build was retried 2 times.', stage_id: 'build' },
      { kind: 'timeout', description: 'Build failed: timed out', stage_id: 'build' },
      { kind: 'wrong_approach', description: 'Test failed.', stage_id: 'test' },
    ]);
    expect(retro?.open_items).toEqual([
      { kind: 'investigation', description: 'Test failed and was not recovered.' },
      { kind: 'follow_up', description: 'Docs was cancelled before its end.' },
    ]);
  });

  it('reports what a record gets when its run ends, and shows it in lists', () => {
    const ended_at = '2026-03-01T12:00:11.500Z';
    const end = endOfRun({ status: 'completed', stages: stages(2, [{ retries: 1 }]), ended_at });
    expect(end).toEqual({ retro_at: ended_at, smoothness: 'smooth', usage_counted: false });
    expect(endOfRun({ status: 'cancelled', stages: [], ended_at })).toEqual({
      retro_at: ended_at,
      usage_counted: false,
    });
    expect(retroItemOf(run({ ...end, stages: stages(1, [{ retries: 1 }]) }))).toMatchObject({
      run: { title: 'Ship it' },
      smoothness: 'smooth',
      friction_point_count: 1,
    });
  });
});
