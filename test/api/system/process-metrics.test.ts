import { request } from 'node:http';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

describe('the metrics of a replica', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const read = (headers: Record<string, string> = {}): Promise<{ status: number; type: string; text: string }> =>
    new Promise((resolve, reject) => {
      request(`${board.url}/metrics`, { headers }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
        );
      })
        .on('error', reject)
        .end();
    });
  const figures = async (name: string) => (await read()).text.split('\n').filter((line) => line.startsWith(name));

  it.each([
    ['a caller on this machine', {}, 200],
    ['a key as a bearer token', { authorization: `Bearer ${readKey}` }, 200],
    ['a key of an agent', { 'x-api-key': agentKey }, 200],
    ['a wrong key of a caller elsewhere', { authorization: 'Bearer wrong', 'x-forwarded-for': '10.0.0.1' }, 401],
    ['a caller behind a proxy', { 'x-forwarded-for': '10.0.0.1' }, 401],
    ['a page behind a rebound name', { host: 'evil.example' }, 401],
  ])('answer %s', async (_who, headers: Record<string, string>, status) => {
    const answer = await read(headers);
    expect(answer.status).toBe(status);
    expect(answer.text.includes('runboard_queue_depth')).toBe(status === 200);
  });

  it('are in the text format of Prometheus, each with its type', async () => {
    const { type, text } = await read();
    expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
      expect(line).toMatch(/^[a-z_][a-z0-9_]*(\{[^{}]*\})? [-+0-9.eInf]+( \d+)?$/);
    }
    for (const name of [
      'runboard_queue_age_seconds',
      'runboard_workers',
      'process_memory_bytes',
      'nodejs_eventloop_delay_seconds',
    ]) {
      expect(text).toContain(`# TYPE ${name} gauge`);
    }
  });

  it('count requests by route and status, and not by what a caller sends', async () => {
    const { body } = await board.call('POST', '/api/tasks', { body: { title: 'measured' } });
    const id = String(body.id);
    await board.call('GET', `/api/tasks/${id}`);
    await board.call('GET', '/api/tasks/task_20260101_nobody');
    await board.call('GET', `/api/no-such-path-${id}`);
    const counts = await figures('http_server_request_duration_seconds_count');
    const ofTask = counts.filter((line) => line.includes('http_route="/api/tasks/:taskId"'));
    expect(ofTask.map((line) => /status_code="(\d+)"\} (\d+)/.exec(line)?.slice(1))).toEqual([
      ['200', '1'],
      ['404', '1'],
    ]);
    expect(counts.join('\n')).not.toContain(id);
    expect(counts.join('\n')).toContain('http_route="none"');
  });

  it('have the time of operations of the stores, by collection', async () => {
    await board.call('POST', '/api/tasks', { body: { title: 'stored' } });
    const counts = await figures('runboard_store_operation_duration_seconds_count');
    expect(counts.some((line) => line.includes('collection="audit"') && line.includes('operation="write"'))).toBe(true);
    expect(counts.every((line) => line.includes('failed="'))).toBe(true);
  });
});
