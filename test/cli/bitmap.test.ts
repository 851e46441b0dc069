import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerUnderTest, serverUnderTest } from '../services/bitmap/server';
import { runboard, type TerminalOptions } from './terminal';

const token = 'token-of-the-bitmap-index-0123456789';

let server: ServerUnderTest;
let home: string;
let environment: Record<string, string>;
beforeAll(async () => {
  server = await serverUnderTest({ token });
  home = await mkdtemp(join(tmpdir(), 'cli-bitmap-'));
  environment = { XDG_CONFIG_HOME: home, RUNBOARD_BITMAP_URL: server.url, RUNBOARD_BITMAP_TOKEN: token };
});
afterAll(async () => {
  await server.remove();
  await rm(home, { recursive: true });
});

const run = (...args: string[]) => runboard(['bitmap', ...args], { environment });
const runWith = (options: TerminalOptions, ...args: string[]) =>
  runboard(['bitmap', ...args], { environment, ...options });

describe('the command runboard with the bitmap index', () => {
  it('creates indexes and fields, and lists them', async () => {
    expect(await run('create', 'people')).toEqual({ code: 0, output: 'people\n', errors: '' });
    expect(await run('create', 'people', 'likes')).toMatchObject({ code: 0, output: 'people/field/likes\n' });
    const age = ['create', 'people', 'age', '--type', 'int', '--min', '0', '--max', '150'];
    expect(await run(...age)).toMatchObject({ code: 0 });
    const { output } = await run('indexes');
    expect(output).toMatch(/^INDEX +FIELD +TYPE\n/);
    expect(output).toMatch(/people +age +int\n/);
    const listed = await runboard(['--json', 'bitmap', 'indexes'], { environment });
    expect(JSON.parse(listed.output).indexes[0].name).toBe('people');
    expect(await run('create', 'people')).toMatchObject({ code: 5, output: '' });
  });

  it('creates fields with bounds of all their digits, and with times', async () => {
    await run('create', 'measured');
    const bounds = ['--type', 'int', '--min', '-9007199254740993', '--max', '9223372036854775807'];
    expect(await run('create', 'measured', 'depth', ...bounds)).toMatchObject({ code: 0 });
    expect(await run('create', 'measured', 'seen', '--type', 'time', '--time-quantum', 'YMD')).toMatchObject({
      code: 0,
    });
    for (const min of ['abc', '', '1.5', '1e3']) {
      expect(await run('create', 'measured', 'none', '--type', 'int', '--min', min)).toMatchObject({ code: 2 });
    }
    expect(await run('create', 'measured', 'none', '--type', 'int', '--max', '9223372036854775808')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('64-bit integer'),
    });
    const { output } = await runboard(['--json', 'bitmap', 'indexes'], { environment });
    const [, listed] = /"name":"measured".*?"fields":(\[.*?\]),"shardWidth"/.exec(output) ?? [];
    expect(listed).toMatch(
      /^\[\{"name":"depth",.*"min":-9007199254740993,"max":9223372036854775807.*"timeQuantum":"YMD"/,
    );
    expect(listed).not.toContain('"none"');
  });

  it('imports a file or a pipe, and prints each result of a query with exact integers', async () => {
    const file = join(home, 'likes.csv');
    const many = Array.from({ length: 1_500 }, (_, n) => `${n + 100},4`).join('\n');
    await writeFile(file, `# column,row\n7,3\n7,3\r\n9223372036854775807,3\n\n${many}\n`);
    expect(await run('import', 'people', 'likes', file)).toEqual({
      code: 0,
      output: '1503 lines, 1502 changed\n',
      errors: '',
    });
    expect((await runWith({ input: '7,41\n8,20\n' }, 'import', 'people', 'age')).output).toBe('2 lines, 2 changed\n');
    const { output } = await run('query', 'people', 'Count(Row(likes=4)) Row(likes=3) Row(age > 40)');
    expect(output.split('\n')).toEqual([
      '1500',
      expect.stringContaining('[7,9223372036854775807]'),
      expect.stringContaining('[7]'),
      '',
    ]);
    const json = await runboard(['--json', 'bitmap', 'query', 'people'], { environment, input: 'Row(likes=3)' });
    expect(json.output).toContain('9223372036854775807');
  });

  it('shows progress on terminals, on standard error', async () => {
    const { output, errors } = await runWith({ input: '1,1\n', isTTY: true }, 'import', 'people', 'likes');
    expect([output, errors]).toEqual(['1 lines, 1 changed\n', '\r████████████████████ 100 %\n']);
  });

  it('names the line that it cannot read, and changes nothing', async () => {
    for (const input of ['1,2\n1\n', '1,2\n1,2,3\n', '1,2\n"a",2\n', '1,2\n1) Clear(1,2\n']) {
      const refused = await runWith({ input }, 'import', 'people', 'absent');
      expect(refused).toMatchObject({ code: 2, output: '', errors: expect.stringContaining('line 2') });
    }
  });

  it('names the line that the service would refuse, and sets nothing', async () => {
    await run('create', 'stock', '--keys');
    await run('create', 'stock', 'colour', '--keys');
    await run('create', 'people', 'groups');
    await run('create', 'people', 'vip', '--type', 'bool');
    await run('create', 'people', 'balance', '--type', 'int');
    const many = (row: string) => Array.from({ length: 1_500 }, (_, n) => `${n},${row}\n`).join('');
    const refused: [index: string, field: string, input: string, line: number][] = [
      ['people', 'groups', '1,3\n2,3\n5,x\n', 3],
      ['people', 'groups', '1,3\n-1,3\n', 2],
      ['people', 'groups', `${many('3')}9223372036854775808,3\n`, 1_501],
      ['people', 'age', '# age\n1,30\n2,151\n', 3],
      ['people', 'age', '1,30\n2,old\n', 2],
      ['people', 'vip', '1,true\n2,1\n', 2],
      ['people', 'balance', `${many('-7')}1,9223372036854775808\n`, 1_501],
      ['stock', 'colour', 'a,red\nb,"red"\n', 2],
    ];
    for (const [index, field, input, line] of refused) {
      const { code, errors } = await runWith({ input }, 'import', index, field);
      expect([input.slice(0, 40), code, errors]).toEqual([
        input.slice(0, 40),
        2,
        expect.stringMatching(new RegExp(`\\bline ${line}: `)),
      ]);
    }
    const people = 'Count(Row(groups=3)) Count(Row(age<=150)) Count(Row(vip=true)) Count(Row(balance=-7))';
    const counts = await Promise.all([
      run('query', 'people', people),
      run('query', 'stock', 'Count(Row(colour="red"))'),
    ]);
    expect(counts.map(({ output }) => output)).toEqual(['0\n2\n0\n0\n', '0\n']);
    const limit = '1,-9223372036854775808\n2,9223372036854775807\n';
    expect((await runWith({ input: limit }, 'import', 'people', 'balance')).output).toBe('2 lines, 2 changed\n');
    expect((await runWith({ input: '7,red\n007,12\n' }, 'import', 'stock', 'colour')).output).toContain('2 changed');
    expect((await runWith({ input: '007,3\n' }, 'import', 'people', 'groups')).output).toContain('1 changed');
    expect((await runWith({ input: '7,true\n' }, 'import', 'people', 'vip')).output).toContain('1 changed');
  });

  it('imports nothing into a field that takes no bits without a time', async () => {
    const options = { type: 'time', timeQuantum: 'YMD', noStandardView: true };
    const headers = { Authorization: `Bearer ${token}` };
    await server.call('POST', '/index/people/field/timed', JSON.stringify({ options }), headers);
    expect(await runWith({ input: '1,2\n' }, 'import', 'people', 'timed')).toMatchObject({
      code: 2,
      output: '',
      errors: expect.stringContaining('without a time'),
    });
  });

  it('ends with the exit code of the failure, and a line of what to do', async () => {
    expect(await run('query', 'absent', 'Count(Row(likes=3))')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('index not found'),
    });
    expect(await run('query', 'people', 'Count(Row(absent=3))')).toMatchObject({
      errors: expect.stringContaining('field not found: absent'),
    });
    expect(await run('query', '../people', 'Count()')).toMatchObject({ code: 2 });
    const wrong = { environment: { ...environment, RUNBOARD_BITMAP_TOKEN: 'wrong' } };
    expect(await runWith(wrong, 'indexes')).toMatchObject({
      code: 4,
      errors: expect.stringContaining('RUNBOARD_BITMAP_TOKEN'),
    });
    const nowhere = await run('--bitmap-url', 'http://127.0.0.1:1', 'indexes');
    expect(nowhere).toMatchObject({ code: 6, errors: expect.stringContaining('SERVICES=bitmap') });
  });
});
