/** A process that does nothing but run agents, as a worker does: `{family, dispatches}` as JSON in its first argument. */
import { createAcpProvider } from '../../../providers/agents/acp/acp-provider';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import type { AgentDispatch } from '../../../providers/agents/provider';
import { agentReaper } from '../../../providers/agents/reaper/agent-reaper';
import { createSandboxHost } from '../../../providers/sandbox/sandbox-host';

const { family, dispatches } = JSON.parse(process.argv[2] ?? '') as { family: string; dispatches: AgentDispatch[] };
const host = { sandbox: createSandboxHost({ protectedPaths: [] }) };
const provider = family === 'acp' ? createAcpProvider(host) : createProcessProvider(host);

/** Reports each reaper as soon as what it guards is in its pipe: whatever happens from then on, it ends that. */
let reported: number | undefined;
setInterval(() => {
  const { pid } = agentReaper;
  if (pid === undefined || pid === reported) {
    return;
  }
  reported = pid;
  agentReaper.guard({ name: 'BOARD_ATTEMPT_ID', value: 'attempt_none' }).then(
    () => process.stdout.write(`guarding ${pid}\n`),
    // One that is killed meanwhile guards nothing; the next one is asked.
    () => {
      reported = undefined;
    },
  );
}, 10).unref();

for (const dispatch of dispatches) {
  void provider.run(
    dispatch,
    {
      started: async (identity) =>
        void process.stdout.write(`process ${JSON.stringify(identity)}\nreaper ${agentReaper.pid}\n`),
      append: async (events) => {
        for (const { payload } of events) {
          if (typeof payload.text === 'string') {
            process.stdout.write(`${payload.text}\n`);
          }
        }
      },
    },
    new AbortController().signal,
  );
}
