import type { Refusal } from '../../../contracts/refusal';
import type { LaunchRequest } from '../../../contracts/runs/launch/launch';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { SessionOffer } from '../../../contracts/settings/session-offer';
import { refusal } from '../../../domain/refusal';

/**
 * The refusal of a launch whose model or mode its agent does not offer, by what a session on this host has last listed. Where
 * nothing is listed, the session itself decides.
 */
export function notOffered(
  { type, model, mode }: Pick<AgentConfig, 'type' | 'model' | 'mode'>,
  request: Pick<LaunchRequest, 'model'>,
  offer: SessionOffer | undefined,
): Refusal | undefined {
  if (!offer) {
    return undefined;
  }
  // The model of a configuration is a label where the agent offers none.
  const isLabel = offer.models.length === 0 && request.model === undefined;
  return (
    (isLabel ? undefined : missing(type, { field: 'model', value: model, offered: offer.models })) ??
    missing(type, { field: 'mode', value: mode, offered: offer.modes })
  );
}

interface Choice {
  field: 'model' | 'mode';
  value: string | undefined;
  offered: SessionOffer['models'];
}

function missing(agent: string, { field, value, offered }: Choice): Refusal | undefined {
  if (value === undefined || offered.some(({ id }) => id === value)) {
    return undefined;
  }
  const ids = offered.map(({ id }) => id);
  const has = ids.length === 0 ? `no ${field}s` : ids.slice(0, 20).join(', ');
  return refusal('AGENT_OPTION_NOT_OFFERED', `Agent ${agent} does not offer the ${field} ${value}; it offers ${has}.`, {
    agent,
    field,
    value,
    offered: ids,
    remediation: `Choose another ${field}, or have the list read again with POST /api/config/agents/${agent}/check.`,
  });
}
