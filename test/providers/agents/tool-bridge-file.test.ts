import { existsSync, readFileSync, statSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { nothingRecorded, withEvents } from '../../../providers/agents/local/recorded-output';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import {
  AgentDetachedError,
  type AgentDispatch,
  AttemptMovedOnError,
  detachReason,
} from '../../../providers/agents/provider';
import { aToolBridge } from '../../support/factories/tool-bridge';
import { aDispatch, RecordingSink } from './agent-fixture';

const provider = createProcessProvider();
const never = new AbortController().signal;
let directory: TempDir;
let dispatch: AgentDispatch;
let sink: RecordingSink;

/** Prints its document and what its bridge is at the start, and once more when it may go. */
const script = `read -r line; echo "$line"; cat "$BOARD_TOOL_BRIDGE"; echo
  until [ -e go ]; do sleep 0.02; done; cat "$BOARD_TOOL_BRIDGE"; echo`;

beforeEach(async () => {
  directory = await makeTempDir('bridge');
  dispatch = await aDispatch(directory, script, { toolBridge: aToolBridge() });
  dispatch = { ...dispatch, spoolDir: join(directory.path, 'agents', dispatch.attemptId) };
  sink = new RecordingSink();
});
afterEach(async () => {
  await provider.endOrphans(dispatch.attemptId, undefined, 0);
  await directory.remove();
});

/** Runs the agent until it has printed its bridge, and detaches it as a worker does that is asked to end. */
async function detach(): Promise<void> {
  const ending = new AbortController();
  const run = provider.run(dispatch, sink, ending.signal);
  await eventually(() => expect(sink.text()).toHaveLength(2));
  ending.abort(detachReason);
  await expect(run).rejects.toThrow(AgentDetachedError);
}

const adopt = (changes: Partial<AgentDispatch>, next: RecordingSink) => {
  const orphan = { process: sink.process!, recorded: withEvents(nothingRecorded, sink.events), ranMs: 1_000 };
  return provider.reattach!({ dispatch: { ...dispatch, ...changes }, orphan }, next, never);
};
const file = () => join(dispatch.transportDir, `${dispatch.attemptId}.tools`, 'bridge.json');

describe('the file of a tool bridge', () => {
  it('is named in the document that the agent receives, beside what is recorded, and has the handle alone', async () => {
    await detach();
    const [document, bridge] = sink.text() as string[];
    const { handle, catalogDigest, catalogUrl, callUrl, mcpUrl } = aToolBridge();
    expect(JSON.parse(document ?? '')).toEqual({
      ...dispatch.transport,
      toolBridge: { catalogDigest, catalogUrl, callUrl, mcpUrl, handleFile: file() },
    });
    expect(document).not.toContain(handle);
    expect(JSON.parse(bridge ?? '')).toEqual(aToolBridge());
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('is replaced for an adopted agent, also by a bridge at another address, and removed with its end', async () => {
    await detach();
    const toolBridge = aToolBridge({ handle: 'second', mcpUrl: 'http://127.0.0.1:2/mcp' });
    const next = new RecordingSink();
    const adopted = adopt({ toolBridge }, next);
    await eventually(() => expect(next.process).toBeDefined());
    await writeFile(join(dispatch.worktreePath, 'go'), '');
    expect(await adopted).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(next.text().map((line) => JSON.parse(line as string) as object)).toEqual([toolBridge]);
    expect(await readdir(dispatch.transportDir)).toEqual([]);
  });

  it('is left as it is by a worker that slept until another one had adopted the agent', async () => {
    await detach();
    const late = { toolBridge: aToolBridge({ handle: 'late' }), isCurrent: async () => false };
    await expect(adopt(late, new RecordingSink())).rejects.toThrow(AttemptMovedOnError);
    expect(existsSync(file())).toBe(true);
    expect(readFileSync(file(), 'utf8')).toBe(JSON.stringify(aToolBridge()));
  });
});
