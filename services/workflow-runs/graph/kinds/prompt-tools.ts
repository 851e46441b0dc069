import type { Attributes } from '../dot';
import type { NodeKind, PromptTools, ToolOffer } from '../graph';
import { integer } from '../numbers';

const offer = /^(?<server>[A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:\/(?<tool>[^\s/,][^\s,]{0,255}))?$/;
export const maxOffers = 100;
/** How often a model is asked that may call tools. */
export const toolTurns = { usual: 10, most: 50 };

/** A tool server (`search`), or one of its tools (`ledger/append`); `undefined` for any other text. */
export function offerOf(name: string): ToolOffer | undefined {
  const { server, tool } = offer.exec(name)?.groups ?? {};
  return server === undefined ? undefined : { server, ...(tool !== undefined && { tool }) };
}

/** The tools that the model of a prompt may call; what is wrong with them is passed to `problem`. */
export function promptToolsOf(
  work: NodeKind,
  attributes: Attributes,
  problem: (message: string) => void,
): PromptTools | undefined {
  const written = attributes.get('tools');
  if (work !== 'prompt' || written === undefined) {
    (['tools', 'max_turns'] as const)
      .filter((name) => attributes.has(name))
      .forEach((name) =>
        problem(
          work === 'prompt' ? 'max_turns needs tools' : `${name} is of prompts, and of maps with each=prompt, only`,
        ),
      );
    return undefined;
  }
  const offers = written.split(',').flatMap((each) => offerOf(each.trim()) ?? []);
  if (offers.length < written.split(',').length || offers.length > maxOffers) {
    problem(
      `tools must be up to ${maxOffers} names such as "search, ledger/append": a tool server, or one of its tools`,
    );
  }
  const maxTurns = integer('max_turns', attributes, { range: [1, toolTurns.most], problem }) ?? toolTurns.usual;
  return { offers, maxTurns };
}
