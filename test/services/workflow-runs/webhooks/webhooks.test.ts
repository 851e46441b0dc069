import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { eventually } from '../../../../platform/testing/eventually';
import { runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { repeatingRuns } from '../runs/repeating-runs';

const { start, get, untilStatus, eventsOf, service } = repeatingRuns({ WORKFLOW_RUNS_MAX_HISTORY_EVENTS: '100' });

const waiting = (attributes = ''): string =>
  `digraph { start -> hook -> tell; hook [type=webhook${attributes}]; tell [prompt="Got \${hook_output.state}"]
    hook -> bad [condition="outcome=fail || hook_output.state=bad", weight=2]; bad [type=fail]; tell -> exit }`;
const webhook = (id: string): Promise<{ stage_id: string; url: string; expires_at?: string }> =>
  eventually(async () => {
    const { data } = await get(`/runs/${id}/webhooks`);
    expect(data).toHaveLength(1);
    return data[0];
  });
const post = (url: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
const historyOf = async (id: string): Promise<string> =>
  historyToJSON(await service().temporal.client.workflow.getHandle(runWorkflowId(id)).fetchHistory());

describe('a webhook of a run', () => {
  it('takes one call without other credentials, whose body is the output of its stage', async () => {
    const id = await start(waiting(', timeout="1h"'));
    const events = eventsOf(id);
    const { stage_id, url, expires_at } = await webhook(id);
    expect(stage_id).toBe('hook');
    expect(Date.parse(expires_at!)).toBeGreaterThan(Date.now());
    expect(await get(`/runs/${id}`)).toMatchObject({ status: 'running' });
    const reply = await post(url, '{"state":"good","list":[1]}');
    expect({ status: reply.status, body: await reply.json() }).toEqual({ status: 202, body: { accepted: true } });
    expect((await post(url, '{"state":"bad"}')).status).toBe(410);
    await untilStatus(id, 'completed');
    const context = await get(`/runs/${id}/context`);
    expect(context).toMatchObject({ hook_output: { state: 'good', list: [1] }, tell_output: 'said: Got good' });
    expect(await get(`/runs/${id}/webhooks`)).toMatchObject({ data: [] });
    const names = (await events).map(({ event }) => Object.keys(event)[0]);
    expect(names).toEqual(expect.arrayContaining(['WebhookWaiting', 'WebhookReceived']));
    // A reader of histories or events cannot call one.
    const token = url.split('/').at(-1)!;
    const secret = token.split('.').at(-1)!;
    expect(await historyOf(id)).not.toContain(secret);
    expect(JSON.stringify(await events)).not.toContain(secret);
  });

  it('takes one of many calls at once', async () => {
    const id = await start(waiting());
    const { url } = await webhook(id);
    const replies = await Promise.all(Array.from({ length: 10 }, (_, at) => post(url, `{"state":"${at}"}`)));
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 202 && status !== 409 && status !== 410)).toEqual([]);
    await untilStatus(id, 'completed');
  });

  it('passes on what the call decides, and texts as they are', async () => {
    const bad = await start(waiting());
    await post((await webhook(bad)).url, '{"state":"bad"}');
    expect(await untilStatus(bad, 'failed')).toMatchObject({ error: { message: 'It came to bad.' } });
    const text = await start('digraph { start -> hook -> exit; hook [type=webhook] }');
    await post((await webhook(text)).url, 'a=1&b=2', { 'content-type': 'application/x-www-form-urlencoded' });
    await untilStatus(text, 'completed');
    expect(await get(`/runs/${text}/context`)).toEqual({ hook_output: 'a=1&b=2', last_output: 'a=1&b=2' });
  });

  it('fails its stage when it is not called in time', async () => {
    const id = await start('digraph { start -> hook -> exit; hook [type=webhook, timeout="10ms"] }');
    expect(await untilStatus(id, 'failed')).toMatchObject({
      error: { message: 'Its webhook was not called in time.' },
    });
    expect(await get(`/runs/${id}/webhooks`)).toMatchObject({ data: [] });
  });

  it('refuses what is no body for it, and waits on', async () => {
    const id = await start(waiting());
    const { url } = await webhook(id);
    for (const [body, headers, status] of [
      ['{', {}, 400],
      ['{"__proto__":1}', {}, 400],
      ['"\\u0000"', {}, 400],
      [Buffer.from([0xff]), {}, 400],
      [`${'['.repeat(40)}${']'.repeat(40)}`, {}, 400],
      [`"${'x'.repeat(65_536)}"`, {}, 413],
      ['{}', { 'content-encoding': 'gzip' }, 415],
    ] as const) {
      expect((await post(url, body, headers)).status).toBe(status);
    }
    await post(url, '{"state":"good"}');
    await untilStatus(id, 'completed');
  });

  it('is found by its own URL only', async () => {
    const id = await start(waiting());
    const { url } = await webhook(id);
    const token = url.split('/').at(-1)!;
    const [run, stage, mac] = token.split('.');
    const other = Buffer.from('hook.2').toString('base64url');
    for (const wrong of [
      `${run}.${stage}.${'A'.repeat(43)}`,
      `${run}.${other}.${mac}`,
      `01ARZ3NDEKTSV4RRFFQ69G5FAV.${stage}.${mac}`,
      'x',
    ]) {
      expect((await post(url.replace(token, wrong), '{}')).status).toBe(404);
    }
    expect((await service().call('GET', `/runs/${id}/webhooks`, undefined, null)).status).toBe(401);
    await service().call('POST', `/runs/${id}/cancel`);
    await untilStatus(id, 'cancelled');
    expect((await post(url, '{}')).status).toBe(410);
  });

  it('waits with another URL at each visit', async () => {
    const id = await start(
      'digraph { start -> hook; hook [type=webhook]; hook -> hook [condition="!hook_output.done"]; hook -> exit [condition="hook_output.done"] }',
    );
    const first = await webhook(id);
    await post(first.url, '{"done":false}');
    const second = await eventually(async () => {
      const next = await webhook(id);
      expect(next.stage_id).toBe('hook.2');
      return next;
    });
    expect((await post(first.url, '{"done":true}')).status).toBe(410);
    await post(second.url, '{"done":true}');
    await untilStatus(id, 'completed');
  });

  it('waits on in a run that is paused or continues as new', async () => {
    const id = await start(waiting(', timeout="1h"'));
    const { url, expires_at } = await webhook(id);
    for (let time = 0; time < 12; time += 1) {
      await service().call('POST', `/runs/${id}/pause`, {});
      await service().call('POST', `/runs/${id}/unpause`, {});
    }
    const { workflow } = service().temporal.client;
    await eventually(async () => {
      const { count } = await workflow.count(`WorkflowId = "${runWorkflowId(id)}"`);
      expect(count).toBeGreaterThan(1);
    });
    expect(await webhook(id)).toEqual({ stage_id: 'hook', url, expires_at });
    expect((await service().call('POST', `/runs/${id}/pause`, {})).status).toBe(200);
    expect((await post(url, '{"state":"good"}')).status).toBe(202);
    await service().call('POST', `/runs/${id}/unpause`, {});
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ tell_output: 'said: Got good' });
  });
});
