import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { TerminalError, type TerminalRequest, Terminals } from '../../../providers/agents/acp/client/terminals';

let directory: TempDir;
let terminals: Terminals;
beforeEach(async () => {
  directory = await makeTempDir('terminals');
  terminals = new Terminals({ graceMs: 1_000 });
});
afterEach(async () => {
  await terminals.close();
  await directory.remove();
});

const create = (command: string, args: string[], fields: Partial<TerminalRequest> = {}) =>
  terminals.create({ command, args, cwd: directory.path, env: { PATH: process.env.PATH ?? '' }, ...fields });
const never = new AbortController().signal;

describe('the terminals of an agent', () => {
  it('are sixteen at most, and another one when one is released', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 16; count += 1) {
      ids.push(await create('sleep', ['600']));
    }
    await expect(create('sleep', ['600'])).rejects.toThrow(
      new TerminalError('The limit of 16 terminals is reached: release one.'),
    );
    await terminals.release(ids[0]!);
    expect(() => terminals.output(ids[0]!)).toThrow(TerminalError);
    expect(await create('true', [])).toEqual(expect.any(String));
    await expect(create('true', [])).rejects.toThrow('The limit of 16 terminals is reached');
  });

  it.each([
    [undefined, 1_048_576],
    [2_000_000, 1_048_576],
    [100, 100],
  ])('hold the end of an output, with a limit of %s the last %i bytes', async (outputByteLimit, bytes) => {
    const write = "process.stdout.write('a'.repeat(3_000_000) + 'the end')";
    const id = await create('node', ['-e', write], { outputByteLimit });
    expect(await terminals.waitForExit(id, never)).toMatchObject({ exitCode: 0 });
    await eventually(() => expect(terminals.output(id).output.endsWith('the end')).toBe(true));
    const { output, truncated } = terminals.output(id);
    expect([Buffer.byteLength(output), truncated]).toEqual([bytes, true]);
  });

  it('begin an output that was cut with a whole character', async () => {
    const id = await create('printf', ['aéé'], { outputByteLimit: 3 });
    await terminals.waitForExit(id, never);
    await eventually(() => expect(terminals.output(id)).toMatchObject({ output: 'é', truncated: true }));
  });
});
