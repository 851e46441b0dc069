import { useMutation, useQuery } from '@tanstack/react-query';
import { board, type Schema, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { useForbidden } from '../app/session';
import { Button } from '../ui/button';
import { Badge, Empty, Loaded, Panel } from '../ui/parts';
import { Ago } from '../ui/time';
import { agentsQuery } from './queries';

const stepTone = { ok: 'green', failed: 'red', skipped: 'grey' } as const;

/** The check of an agent, step by step: what failed, and what to do about it. */
function CheckResult({ check }: { check: Schema<'AgentCheck'> }) {
  return (
    <ul>
      {check.findings.map(({ step, status, message, remedy }) => (
        <li key={step + message}>
          <Badge tone={stepTone[status]} icon={status === 'ok' ? 'check' : status === 'failed' ? 'alert' : 'circle'}>
            {step}
          </Badge>{' '}
          {message} {remedy ? <strong>{remedy}</strong> : null}
        </li>
      ))}
      <li className="meta">
        on {check.hostId}, <Ago at={check.checkedAt} />
      </li>
    </ul>
  );
}

interface AgentProps {
  agent: Schema<'AgentConfig'>;
  config: Schema<'AgentConfigAnswer'>;
}

function Agent({ agent, config }: AgentProps) {
  const why = useForbidden()('settings:write');
  const check = useMutation({
    mutationFn: () =>
      unwrap(board.POST('/api/config/agents/{type}/check', { params: { path: { type: agent.type } }, body: {} })),
  });
  const save = (next: Schema<'AgentConfigAnswer'>) => queryClient.setQueryData(keys.agents, next);
  const toggle = useMutation({
    mutationFn: () =>
      unwrap(
        board.PUT('/api/config/agents', {
          body: {
            agents: config.agents.map((each) =>
              each.type === agent.type ? { ...each, enabled: !each.enabled } : each,
            ),
            expectedRevision: config.revision,
          },
        }),
      ),
    onSuccess: save,
    onError: () => queryClient.invalidateQueries({ queryKey: keys.agents }),
  });
  const makeDefault = useMutation({
    mutationFn: () => unwrap(board.PUT('/api/config/default-agent', { body: { agent: agent.type } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.agents }),
  });
  return (
    <li className="stack">
      <div className="row wrap">
        <strong>{agent.name}</strong>
        <span className="mono meta">{agent.type}</span>
        <Badge>{agent.provider}</Badge>
        {agent.enabled ? null : <Badge tone="amber">off</Badge>}
        {config.defaultAgent === agent.type ? (
          <Badge tone="green" icon="check">
            default
          </Badge>
        ) : null}
        <span className="meta mono cut grow">{[agent.command, ...agent.args].filter(Boolean).join(' ')}</span>
        <Button small why={why} busy={check.isPending} onClick={() => check.mutate()}>
          Check
        </Button>
        {config.defaultAgent === agent.type ? null : (
          <Button small why={why} busy={makeDefault.isPending} onClick={() => makeDefault.mutate()}>
            Make default
          </Button>
        )}
        <Button small why={why} busy={toggle.isPending} onClick={() => toggle.mutate()}>
          {agent.enabled ? 'Turn off' : 'Turn on'}
        </Button>
      </div>
      {check.data ? <CheckResult check={check.data} /> : null}
    </li>
  );
}

/** The configured agents, and the check of each: installed, version, handshake, authentication, session. */
export function Agents() {
  const query = useQuery(agentsQuery);
  return (
    <Panel title="Agents" flush>
      <Loaded query={query} what="agents">
        {(config) =>
          config.agents.length === 0 ? (
            <Empty icon="agent" title="No agent is connected">
              <span>Add one from a preset below.</span>
            </Empty>
          ) : (
            <ul className="rows">
              {config.agents.map((agent) => (
                <Agent key={agent.type} agent={agent} config={config} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
