/** A process that does nothing but run agents, as a worker does: `{family, dispatches}` as JSON in its first argument. */
import { createAcpProvider } from '../../../providers/agents/acp/acp-provider';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import type { AgentDispatch } from '../../../providers/agents/provider';
import { agentReaper } from '../../../providers/agents/reaper/agent-reaper';

const { family, dispatches } = JSON.parse(process.argv[2] ?? '') as { family: string; dispatches: AgentDispatch[] };
const provider = family === 'acp' ? createAcpProvider() : createProcessProvider();

for (const dispatch of dispatches) {
  void provider.run(
    dispatch,
    {
      started: async () => void process.stdout.write(`reaper ${agentReaper.pid}\n`),
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
