import { eventually } from '../../../platform/testing/eventually';
import type { Reply, WorkflowRunsUnderTest } from './service-under-test';

/** A run that waits for an answer. */
export const asking =
  'digraph Ask { start -> ok; ok [shape=hexagon, label="Go on?"]; ok -> exit [label="Yes"]; ok -> ok [label="No"] }';

interface Reported {
  id: number;
  event: Record<string, unknown>;
}

/** Starts runs, reads them and answers their questions. */
export function runClient(service: () => WorkflowRunsUnderTest) {
  const start = async (dot: string): Promise<string> => {
    const { status, body } = await service().call('POST', '/runs', { dot_source: dot });
    expect({ status, body }).toMatchObject({ status: 201 });
    return body.id as string;
  };
  const get = async (path: string) => (await service().call('GET', path)).body;
  const untilStatus = (id: string, status: string) =>
    eventually(async () => {
      const run = await get(`/runs/${id}`);
      expect({ status: run.status, ...(run.status !== status && { error: run.error }) }).toEqual({ status });
      return run;
    });
  const question = (id: string) =>
    eventually(async () => {
      const { data } = await get(`/runs/${id}/questions`);
      expect(data).toHaveLength(1);
      return data[0];
    });
  const answer = (id: string, qid: string, body: unknown): Promise<Reply> =>
    service().call('POST', `/runs/${id}/questions/${qid}/answer`, body);

  /** Every event of a run, from wherever it is followed to its end. */
  async function eventsOf(id: string, lastEventId?: string): Promise<Reported[]> {
    const headers: Record<string, string> = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
    const text = await (await service().open('GET', `/runs/${id}/events`, { headers })).text();
    return text
      .split('\n\n')
      .filter(Boolean)
      .map((frame) => ({
        id: Number(/^id: (\d+)$/m.exec(frame)?.[1]),
        event: JSON.parse(/^data: (.*)$/m.exec(frame)![1]!),
      }));
  }

  return { start, get, untilStatus, question, answer, eventsOf };
}
