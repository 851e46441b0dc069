import { eventually } from '../../../../platform/testing/eventually';
import type { Stage } from '../../../../services/workflow-runs/runs/run';
import { repeatingRuns } from '../../../services/workflow-runs/runs/repeating-runs';
import { goldenGraphs, values } from './graphs';

const { get, models, service } = repeatingRuns({ WORKFLOW_RUNS_CONCURRENCY: '60', RATE_LIMIT_ENABLED: 'false' });

const marks: Partial<Record<Stage['status'], string>> = { failed: '!', cancelled: '~' };

/** How a run has ended, as the corpus writes it. */
async function endOf(id: string): Promise<string> {
  const { status, error } = await eventually(async () => {
    const run = await get(`/runs/${id}`);
    expect(['completed', 'failed', 'cancelled']).toContain(run.status);
    return run as { status: string; error?: { message: string } };
  });
  const { data } = await get(`/runs/${id}/stages?page[limit]=100`);
  const stages = (data as Stage[]).map((stage) => `${stage.id}${marks[stage.status] ?? ''}`).sort();
  return `${status}${error ? ` (${error.message})` : ''}: ${stages.join(' ')}`;
}

describe('the corpus of graphs', () => {
  it('has at least fifty, each with a title of its own', () => {
    expect(goldenGraphs.length).toBeGreaterThanOrEqual(50);
    expect(new Set(goldenGraphs.map(([title]) => title)).size).toBe(goldenGraphs.length);
  });

  it('ends as its golden states have it', async () => {
    // Its answers are the prompts themselves.
    models().provider.answers(({ body }) => {
      const { content } = body.messages.at(-1) as { content: string | { text: string }[] };
      return [typeof content === 'string' ? content : content.map(({ text }) => text).join('')];
    });
    const ends: [string, string][] = [];
    const left = [...goldenGraphs];
    const lane = async (): Promise<void> => {
      for (let graph = left.shift(); graph; graph = left.shift()) {
        const [title, dot_source] = graph;
        const { status, body } = await service().call('POST', '/runs', { dot_source, vars: values });
        ends.push([title, status === 201 ? await endOf(body.id) : JSON.stringify(body)]);
      }
    };
    await Promise.all([lane(), lane(), lane()]);
    expect(Object.fromEntries(ends)).toEqual(Object.fromEntries(goldenGraphs.map(([title, , end]) => [title, end])));
  });
});
