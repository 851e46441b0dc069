import { eventually } from '../../../../platform/testing/eventually';
import type { RunEventEntry } from '../../../../services/workflow-runs/runs/execution/events';
import type { Stage } from '../../../../services/workflow-runs/runs/run';
import type { Reply, WorkflowRunsUnderTest } from '../service-under-test';
import { openStoredRuns } from '../stored-runs';

/** Starts runs at a service under test, and reads them. */
export function aRunClient(service: WorkflowRunsUnderTest) {
  const get = async (path: string): Promise<Reply['body']> => (await service.call('GET', path)).body;
  async function events(id: string): Promise<RunEventEntry['event'][]> {
    const { database } = await openStoredRuns(service);
    try {
      const log = await database.log<RunEventEntry>({ name: 'workflow-run-events' });
      return (await log.read(id, 0, 100_000)).map(({ event }) => event);
    } finally {
      await database.close();
    }
  }
  return {
    get,
    async start(dot: string): Promise<string> {
      const { status, body } = await service.call('POST', '/runs', { dot_source: dot });
      expect({ status, body }).toMatchObject({ status: 201 });
      return body.id as string;
    },
    async post(path: string, body: unknown, status: number): Promise<void> {
      const reply = await service.call('POST', path, body);
      expect({ path, status: reply.status, body: reply.body }).toMatchObject({ path, status });
    },
    untilStatus: (id: string, status: string) =>
      eventually(async () => {
        const run = await get(`/runs/${id}`);
        expect({ status: run.status, ...(run.status !== status && { error: run.error }) }).toEqual({ status });
        return run;
      }),
    questions: async (id: string): Promise<{ id: string; text: string }[]> => (await get(`/runs/${id}/questions`)).data,
    /** Its events, as they are stored. */
    events,
    eventNames: async (id: string): Promise<string[]> => (await events(id)).flatMap((event) => Object.keys(event)),
    /** All of them, page by page. */
    async stages(id: string): Promise<Stage[]> {
      const stages: Stage[] = [];
      for (let more = true; more;) {
        const { data, meta } = await get(`/runs/${id}/stages?page[limit]=100&page[offset]=${stages.length}`);
        stages.push(...data);
        more = meta.has_more;
      }
      return stages;
    },
  };
}

export type RunClient = ReturnType<typeof aRunClient>;
