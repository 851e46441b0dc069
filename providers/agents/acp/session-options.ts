import { RequestError } from '@agentclientprotocol/sdk/unstable';
import { z } from 'zod';
import { maxOffered, type SessionOffer } from '../../../contracts/settings/session-offer';
import { within } from '../../../platform/operations/within';
import { cut } from '../../../platform/text/cut';
import type { AcpConnection } from './connection';
import { AcpFailure, agentMessage } from './failure';

/** How long an agent may take to change an option, in milliseconds. */
const changeMs = 30_000;

const label = z.string().min(1).max(200);
const choice = z.looseObject({ value: label, name: z.string() });
const select = z.looseObject({
  id: label,
  category: z.string().nullish(),
  currentValue: z.string(),
  options: z.array(z.union([choice, z.looseObject({ options: z.array(choice) })])),
});
const modeState = z.looseObject({
  currentModeId: z.string(),
  availableModes: z.array(z.looseObject({ id: label, name: z.string() })),
});
/** Not of the stable protocol any more; agents of today still answer with it. */
const modelState = z.looseObject({
  currentModelId: z.string(),
  availableModels: z.array(z.looseObject({ modelId: label, name: z.string() })),
});

type Kind = 'model' | 'mode';
type Choice = SessionOffer['models'][number];

/** What one way of the protocol offers for a kind of option, and the request that chooses. */
interface Way {
  current: string;
  offered: Choice[];
  request: (sessionId: string, value: string) => { method: string; params: object };
}

const read = <T>(schema: z.ZodType<T>, value: unknown): T | undefined => schema.safeParse(value).data;

const field = (response: unknown, name: string): unknown =>
  typeof response === 'object' && response !== null ? (response as Record<string, unknown>)[name] : undefined;

/** The ways in which a session may be given a model or a mode, by what the response that opened it lists. */
function waysOf(response: unknown, kind: Kind): Way[] {
  const listed = field(response, 'configOptions');
  const options = (Array.isArray(listed) ? listed : []).flatMap((option) => read(select, option) ?? []);
  const option = options.find(({ category, id }) => (category ?? id) === kind);
  const states = kind === 'mode' ? modesOf(response) : modelsOf(response);
  return [...states, ...(option ? [optionWay(option)] : [])];
}

const optionWay = ({ id: configId, currentValue, options }: z.infer<typeof select>): Way => ({
  current: currentValue,
  offered: options
    .flatMap((entry) => read(z.looseObject({ options: z.array(choice) }), entry)?.options ?? read(choice, entry) ?? [])
    .map(({ value: id, name }) => ({ id, name })),
  request: (sessionId, value) => ({
    method: 'session/set_config_option',
    params: { sessionId, configId, value },
  }),
});

function modesOf(response: unknown): Way[] {
  const state = read(modeState, field(response, 'modes'));
  return state
    ? [
        {
          current: state.currentModeId,
          offered: state.availableModes.map(({ id, name }) => ({ id, name })),
          request: (sessionId, modeId) => ({ method: 'session/set_mode', params: { sessionId, modeId } }),
        },
      ]
    : [];
}

function modelsOf(response: unknown): Way[] {
  const state = read(modelState, field(response, 'models'));
  return state
    ? [
        {
          current: state.currentModelId,
          offered: state.availableModels.map(({ modelId: id, name }) => ({ id, name })),
          request: (sessionId, modelId) => ({ method: 'session/set_model', params: { sessionId, modelId } }),
        },
      ]
    : [];
}

/** Every value of a kind once, as far as they are stored. */
function offeredBy(ways: readonly Way[]): Choice[] {
  const byId = new Map(ways.flatMap(({ offered }) => offered).map((entry) => [entry.id, entry]));
  return [...byId.values()].slice(0, maxOffered).map(({ id, name }) => ({ id, name: cut(name, 200) }));
}

/** The models and modes that a session offers, by the response that opened it. */
export function offerOf(response: unknown): SessionOffer {
  const [models, modes] = [waysOf(response, 'model'), waysOf(response, 'mode')];
  return {
    models: offeredBy(models),
    modes: offeredBy(modes),
    model: models[0]?.current.slice(0, 200) ?? null,
    mode: modes[0]?.current.slice(0, 200) ?? null,
  };
}

/** What a session is to have; a model that is only a label of its configuration is no reason to refuse a session without any. */
export interface SessionChoice {
  model?: string | undefined;
  mode?: string | undefined;
  /** Whether the launch itself names the model. */
  isModelRequested: boolean;
}

/**
 * Gives an open session its model and its mode.
 *
 * @returns what it offers, with the values that count now
 * @throws AcpFailure when it does not offer one of them, or refuses it
 */
export async function chooseOptions(
  { agent }: Pick<AcpConnection, 'agent'>,
  { sessionId, response }: { sessionId: string; response: unknown },
  { model, mode, isModelRequested }: SessionChoice,
): Promise<SessionOffer> {
  let current = response;
  const chosen = { ...offerOf(response) };
  const choose = async (kind: Kind, value: string): Promise<void> => {
    const ways = waysOf(current, kind);
    if (kind === 'model' && ways.length === 0 && !isModelRequested) {
      return;
    }
    const way = ways.find(({ offered }) => offered.some(({ id }) => id === value));
    if (!way) {
      throw notOffered(kind, value, offeredBy(ways));
    }
    chosen[kind] = value;
    if (way.current === value) {
      return;
    }
    const { method, params } = way.request(sessionId, value);
    const refused = (reason: string) =>
      new AcpFailure('option-refused', reason, `choose another ${kind}, or give the agent what it needs for it.`);
    try {
      const late = refused(`The agent did not change the ${kind} within ${changeMs / 1000} seconds`);
      const changed: unknown = await within(changeMs, late, agent.request(method, params));
      // A model may have modes of its own.
      if (Array.isArray(field(changed, 'configOptions'))) {
        current = { ...(current as object), configOptions: field(changed, 'configOptions') };
      }
    } catch (error) {
      throw error instanceof RequestError
        ? refused(`The agent refused the ${kind} ${value} (${agentMessage(error)})`)
        : error;
    }
  };
  if (model !== undefined) {
    await choose('model', model);
  }
  if (mode !== undefined) {
    await choose('mode', mode);
  }
  return chosen;
}

function notOffered(kind: Kind, value: string, offered: readonly Choice[]): AcpFailure {
  const ids = offered.map(({ id }) => id).slice(0, 50);
  const remedy = ids.length === 0 ? `it offers no ${kind}s: leave ${kind} out.` : `choose one of ${ids.join(', ')}.`;
  return new AcpFailure(`${kind}-not-offered`, `The agent does not offer the ${kind} ${value}`, cut(remedy, 1_500));
}
