import type { ToolCall } from '../../../../platform/models/message';
import type { ModelRequest } from '../../../../platform/models/request';
import { cut } from '../../../../platform/text/cut';
import type { CatalogTools } from '../../board/board-client';
import type { ToolOffer } from '../../graph/graph';
import type { AskedCall } from './messages';

/** A talk may have this much as JSON, in characters: the model is sent all of it again with each turn. */
export const maxTalk = 400_000;
/** So many calls of one turn are made. */
export const maxCalls = 16;
/** So much of what a tool responds is sent to the model, in characters. */
export const maxResult = 16_000;
/** So many tools are offered to a model at most. */
const maxTools = 128;
/** So much of a description is sent to a model, in characters. */
const maxDescription = 2_000;
/** A name of a tool may have this much for models. */
const maxName = 64;
/** The arguments of one call may have this much as JSON, in characters. */
const maxArguments = 20_000;

export interface OfferedTool {
  /** Its name for the model. */
  name: string;
  server: string;
  tool: string;
}

/** The tools of a catalog that a prompt offers, with what the model is sent of them; denied ones are not among them. */
export function offeredTools(
  servers: CatalogTools,
  offers: readonly ToolOffer[],
): { offered: OfferedTool[]; tools: NonNullable<ModelRequest['tools']> } {
  const all = servers.flatMap(({ serverId: server, tools }) => tools.map((each) => ({ server, ...each })));
  const chosen = all
    .filter(({ policy }) => policy !== 'denied')
    .filter(({ server, name }) => offers.some((offer) => offer.server === server && (offer.tool ?? name) === name))
    .slice(0, maxTools);
  const names = new Set<string>();
  const entries = chosen.map(({ server, name: tool, description, inputSchema }) => {
    const name = freeName(`${server}__${tool}`, names);
    return {
      offered: { name, server, tool },
      sent: {
        name,
        parameters: inputSchema,
        ...(description && { description: cut(description, maxDescription) }),
      },
    };
  });
  return { offered: entries.map(({ offered }) => offered), tools: entries.map(({ sent }) => sent) };
}

/** A name of the characters that models take, which no other tool has. */
function freeName(wanted: string, taken: Set<string>): string {
  const base = wanted.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, maxName);
  let name = base;
  for (let n = 2; taken.has(name); n += 1) {
    name = `${base.slice(0, maxName - String(n).length - 1)}_${n}`;
  }
  taken.add(name);
  return name;
}

/** A call of a model as a call of a tool that it was offered. */
export function askedCall({ id, name, arguments: values }: ToolCall, offered: readonly OfferedTool[]): AskedCall {
  const found = offered.find((each) => each.name === name);
  const fields = typeof values === 'object' && values !== null && !Array.isArray(values) ? values : undefined;
  const call = { id, server: found?.server ?? '', tool: found?.tool ?? name };
  if (!found) {
    return { ...call, arguments: {}, problem: `There is no tool ${name}.` };
  }
  if (!fields || JSON.stringify(fields).length > maxArguments) {
    const problem = `Its arguments must be an object of at most ${maxArguments} characters as JSON.`;
    return { ...call, arguments: {}, problem };
  }
  return { ...call, arguments: fields as Record<string, unknown> };
}
