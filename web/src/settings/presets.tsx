import { useMutation, useQuery } from '@tanstack/react-query';
import { board, type Schema, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { useForbidden } from '../app/session';
import { Button } from '../ui/button';
import { Badge, Loaded, Panel } from '../ui/parts';
import { toast } from '../ui/toast';

type Preset = Schema<'AgentPresetList'>['presets'][number];

const presetsQuery = {
  queryKey: keys.presets,
  staleTime: 60_000,
  queryFn: async () =>
    (await unwrap(board.GET('/api/config/agent-presets', { params: { query: { limit: 50 } } }))).presets,
};

function PresetRow({ preset }: { preset: Preset }) {
  const why = useForbidden()('settings:write');
  const found = preset.hosts.find(({ path }) => path !== null);
  const viaPackage = found === undefined && preset.packages.length > 0 && preset.hosts.some(({ npx }) => npx);
  const add = useMutation({
    mutationFn: () =>
      unwrap(
        board.POST('/api/config/agents/from-preset', {
          body: { preset: preset.id, ...(viaPackage ? { run: 'package' as const } : {}) },
        }),
      ),
    onSuccess: ({ agent, requirements }) => {
      toast([`Added ${agent.name}.`, ...requirements].join(' '), 'green');
      void queryClient.invalidateQueries({ queryKey: keys.agents });
    },
  });
  const needsCommand = preset.id === 'acp' && preset.command === null;
  return (
    <li className="row wrap">
      <span className="grow">
        <strong>{preset.name}</strong>{' '}
        {found ? (
          <Badge tone="green" icon="check">
            found on {found.hostId}
          </Badge>
        ) : viaPackage ? (
          <Badge>runs as a package</Badge>
        ) : (
          <Badge>not found</Badge>
        )}
        <p className="meta">{preset.description}</p>
      </span>
      <Button
        small
        icon="plus"
        why={needsCommand ? 'It needs the command of your agent: add it over the API.' : why}
        busy={add.isPending}
        onClick={() => add.mutate()}
      >
        Add
      </Button>
    </li>
  );
}

/** Agents of today with what each host has for them. */
export function Presets() {
  const query = useQuery(presetsQuery);
  return (
    <Panel title="Presets" flush>
      <Loaded query={query} what="presets">
        {(presets) => (
          <ul className="rows">
            {presets.map((preset) => (
              <PresetRow key={preset.id} preset={preset} />
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  );
}
