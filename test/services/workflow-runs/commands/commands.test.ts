import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../../../platform/testing/eventually';
import { openCommandSandbox } from '../../../../services/workflow-runs/sandbox';
import { aPresetsFile } from '../commands-under-test';
import { runClient } from '../run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';

let service: WorkflowRunsUnderTest;
let file: Awaited<ReturnType<typeof aPresetsFile>>;
beforeAll(async () => {
  file = await aPresetsFile();
  service = await startServiceUnderTest(file.settings);
});
afterAll(async () => {
  await service.close();
  await file.close();
});
const { start, get, untilStatus, eventsOf } = runClient(() => service);

/** A JSON list as the value of an attribute; its texts have no double quotes. */
const argv = (...list: string[]): string => `"${JSON.stringify(list).replaceAll('"', '\\"')}"`;
const sh = (script: string): string => argv('sh', '-c', script);
const single = (attributes: string): string => `digraph { start -> c -> exit; c [type=command, ${attributes}] }`;
const workspaceOf = (id: string): string => join(service.dataDir, 'workflow-runs', 'workspaces', id);

describe('a command of a run', () => {
  it('runs without a shell in a workspace that the next one has too, and its output and exit code are values', async () => {
    const id =
      await start(`digraph { start -> write -> read -> exit; read -> bad [condition="read_exit_code > 2"]; bad [type=fail]
      write [type=command, command=${sh('mkdir sub && echo $0 > sub/file')}]
      read [type=command, command="cat file", directory=sub] }`);
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toEqual({
      ...{ write_output: '', write_exit_code: 0, read_output: expect.stringMatching(/sh$/), read_exit_code: 0 },
      ...{ last_output: expect.stringMatching(/sh$/), last_exit_code: 0 },
    });
    const { data } = await get(`/runs/${id}/stages/read/turns`);
    expect(data).toMatchObject([{ kind: 'tool', tools: [{ tool_name: 'command', is_error: false }] }]);
    expect(JSON.parse(data[0].tools[0].input)).toEqual({ argv: ['cat', 'file'] });
    expect(JSON.parse(data[0].tools[0].result)).toMatchObject({
      exit_code: 0,
      stdout: expect.stringMatching(/sh\n$/),
      stderr: '',
    });
  });

  it('has values in its arguments, each as one argument whatever it holds', async () => {
    const { body } = await service.call('POST', '/runs', {
      dot_source: single('command="printf %s/ ${name} \'it is ${name}\'"'),
      vars: { name: '$(id); `id` "x' },
    });
    await untilStatus(body.id, 'completed');
    expect(await get(`/runs/${body.id}/context`)).toMatchObject({
      c_output: '$(id); `id` "x/it is $(id); `id` "x/',
    });
  });

  it('fails with its exit code and the end of its errors, which edges decide by', async () => {
    const failing = sh('echo out; echo wrong >&2; exit 3');
    const id = await start(single(`command=${failing}`));
    expect(await untilStatus(id, 'failed')).toMatchObject({ error: { message: 'It ended with exit code 3. wrong' } });
    const other = await start(
      `digraph { start -> c -> exit; c -> mend [condition="outcome=fail && c_exit_code=3"]; c [type=command, command=${failing}]
        mend [type=command, command="true"]; mend -> exit }`,
    );
    await untilStatus(other, 'completed');
    expect(await get(`/runs/${other}/context`)).toMatchObject({ c_exit_code: 3, c_output: 'out', mend_exit_code: 0 });
  });

  it('is retried as often as its node allows, after a pause', async () => {
    const id = await start(
      single(`max_retries=3, retry_delay="10ms", command=${sh('echo x >> tries; test $(wc -l < tries) = 3')}`),
    );
    const events = await eventsOf(id);
    expect(events.filter(({ event }) => 'StageRetrying' in event)).toHaveLength(2);
    await untilStatus(id, 'completed');
    expect((await get(`/runs/${id}/stages`)).data[1]).toMatchObject({ status: 'completed', retries: 2 });
  });

  it('is ended with all that it has started when its time is over', async () => {
    const id = await start(
      single(`timeout="1s", command=${sh('sleep 1001 & setsid sleep 1002 & echo begun; sleep 1003')}`),
    );
    expect(await untilStatus(id, 'failed')).toMatchObject({
      error: { message: 'It was ended when its time was over.' },
    });
    const context = await get(`/runs/${id}/context`);
    expect(context).toMatchObject({ c_output: 'begun', c_exit_code: null });
    await untilGone('sleep\u0000100');
  });

  it('is ended when its run is cancelled', async () => {
    const id = await start(single(`command=${sh('touch begun; sleep 2001')}`));
    await eventually(() => expect(existsSync(join(workspaceOf(id), 'begun'))).toBe(true));
    expect((await service.call('POST', `/runs/${id}/cancel`, {})).status).toBe(200);
    await untilStatus(id, 'cancelled');
    await untilGone('sleep\u00002001');
  });

  it('has an output that is bounded', async () => {
    const id = await start(
      single(`command=${sh("head -c 3000000 /dev/zero | tr '\\000' x; head -c 300000 /dev/zero >&2")}`),
    );
    await untilStatus(id, 'completed');
    expect((await get(`/runs/${id}/context`)).c_output).toHaveLength(8_000);
    const { data } = await get(`/runs/${id}/stages/c/turns`);
    const result = JSON.parse(data[0].tools[0].result);
    expect(result).toMatchObject({ stdout_bytes: 3_000_000, stderr_bytes: 300_000 });
    expect(result.stdout).toHaveLength(200_000);
  });

  it('sees neither the settings of the service nor its data, changes only its workspace, and has the network of its preset', async () => {
    const elsewhere = join(tmpdir(), 'workflow-run-command');
    const id = await start(
      single(
        `command=${sh(`env; ls -a ${service.dataDir}; touch ${elsewhere} && echo written; touch /etc/x 2>/dev/null && echo etc; ls /sys/class/net 2>/dev/null; cat /proc/net/dev`)}`,
      ),
    );
    await untilStatus(id, 'completed');
    const { c_output: output } = await get(`/runs/${id}/context`);
    expect(output).not.toMatch(/WORKFLOW_RUNS|BOARD_|MONGODB|host-id|\.db|\betc\b\n|eth0/);
    expect(existsSync(elsewhere)).toBe(false);
  });

  it.each([
    ['a program that is not there', 'command="no-such-program"', /no-such-program was not found/],
    ['a directory that is not there', 'command="ls", directory="nowhere"', /nowhere is not in the workspace/],
  ])('fails with %s', async (_case, attributes, message) => {
    expect(await untilStatus(await start(single(attributes)), 'failed')).toMatchObject({
      error: { message: expect.stringMatching(message) },
    });
  });

  it('is started in no directory that a link leads to outside', async () => {
    const id = await start(
      `digraph { start -> link -> c -> exit; link [type=command, command="ln -s /etc out"]; c [type=command, command="ls", directory=out] }`,
    );
    expect(await untilStatus(id, 'failed')).toMatchObject({ error: { message: 'out is not in the workspace.' } });
  });

  it('makes files, which are listed without what is elsewhere', async () => {
    const id = await start(
      single(
        `command=${sh('mkdir -p a/b; echo hi > a/b/text; head -c 2 /dev/zero > binary; head -c 70000 /dev/zero > large; ln -s /etc/passwd link; ln -s /etc dir; mkfifo pipe; touch empty')}`,
      ),
    );
    await untilStatus(id, 'completed');
    const { data } = await get(`/runs/${id}/files`);
    expect(data.map(({ new_file }: { new_file: unknown }) => new_file)).toEqual([
      { name: 'a/b/text', contents: 'hi\n' },
      { name: 'binary', contents: '', omitted: 'binary' },
      { name: 'dir', contents: '', omitted: 'no-file' },
      { name: 'empty', contents: '' },
      { name: 'large', contents: '', omitted: 'too-large' },
      { name: 'link', contents: '', omitted: 'no-file' },
      { name: 'pipe', contents: '', omitted: 'no-file' },
    ]);
    const page = await get(`/runs/${id}/files?page[limit]=1&page[offset]=1`);
    expect(page).toMatchObject({ data: [{ old_file: { name: 'binary', contents: '' } }], meta: { has_more: true } });
    expect((await service.call('GET', `/runs/${id}/files?checkpoint=start.1`)).status).toBe(404);
    // A checkpoint has regular files and links.
    const { data: committed } = await get(`/runs/${id}/files?checkpoint=c.1`);
    expect(committed.map(({ new_file }: { new_file: { name: string } }) => new_file.name)).toEqual([
      ...['a/b/text', 'binary', 'dir', 'empty', 'large', 'link'],
    ]);
    const many = await start(single(`command=${sh('seq 10001 | xargs touch')}`));
    await untilStatus(many, 'completed');
    expect((await service.call('GET', `/runs/${many}/files`)).status).toBe(409);
    expect((await service.call('GET', `/runs/${await start('digraph { start -> exit }')}/files`)).status).toBe(404);
  });

  it('is refused with a preset that there is not', async () => {
    const refusal = await service.call('POST', '/runs', { dot_source: single('command=ls, sandbox=other') });
    expect(refusal).toMatchObject({
      status: 400,
      body: { errors: [{ detail: 'Node "c": There is no sandbox preset "other"; there are closed, open.' }] },
    });
    const id = await start(single('command=ls, sandbox=open'));
    await untilStatus(id, 'completed');
  });
});

describe('commands without presets', () => {
  it('are refused when their run is', async () => {
    const without = await startServiceUnderTest();
    try {
      expect(await without.call('POST', '/runs', { dot_source: single('command=ls') })).toMatchObject({
        status: 400,
        body: {
          errors: [{ detail: 'Node "c": commands are not run here: WORKFLOW_RUNS_SANDBOX_PRESETS is not set.' }],
        },
      });
    } finally {
      await without.close();
    }
  });

  it.each([
    ['no presets', { presets: [] }],
    ['an unknown field', { presets: [{ id: 'a', name: 'A', hidden: [] }] }],
    ['what commands cannot have', { presets: [{ id: 'a', name: 'A', credentials: { mode: 'environment' } }] }],
  ])('stop the service with a file that has %s', async (_case, content) => {
    const wrong = await aPresetsFile(content);
    try {
      const env = { ...wrong.settings, BOARD_DATA_DIR: tmpdir() } as Parameters<typeof openCommandSandbox>[0];
      await expect(openCommandSandbox(env)).rejects.toThrow(/WORKFLOW_RUNS_SANDBOX_PRESETS .* cannot be used/);
    } finally {
      await wrong.close();
    }
  });
});

/** Waits until no process of this machine has the words in its command line. */
const untilGone = (words: string): Promise<void> =>
  eventually(async () => {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      expect(line.startsWith(words)).toBe(false);
    }
  });
