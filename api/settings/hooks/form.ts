import type { HookCreate, HookFields, HookPatch } from '../../../contracts/settings/hook';
import { compact } from '../../../platform/json/compact';

/** The parts of a filter by their names in the form of existing clients. */
const filterNames = { taskTypeFilter: 'type', projectFilter: 'project', priorityFilter: 'priority' } as const;
const filterFields = Object.keys(filterNames) as (keyof typeof filterNames)[];

/** What a patch in either form makes of a hook, in the form of the specification. */
export function patchedHook(current: HookFields, patch: Omit<HookPatch, 'expectedRevision'>): HookFields {
  const { action, config, filter = current.filter } = patch;
  const stated = filterFields.filter((name) => patch[name] !== undefined);
  const parts = Object.fromEntries(stated.map((name) => [filterNames[name], patch[name] ?? undefined]));
  const url = typeof action === 'object' ? action.url : config?.url;
  return {
    name: patch.name ?? current.name,
    event: patch.event ?? current.event,
    enabled: patch.enabled ?? current.enabled,
    order: patch.order ?? current.order,
    action: url === undefined ? current.action : { type: 'webhook', url },
    filter: compact({ ...filter, ...parts }),
  };
}

/** What a request in either form makes, in the form of the specification. */
export const newHook = ({ name, event, enabled, order, ...rest }: HookCreate): HookFields =>
  patchedHook({ name, event, enabled, order, filter: {}, action: { type: 'webhook', url: '' } }, rest);
