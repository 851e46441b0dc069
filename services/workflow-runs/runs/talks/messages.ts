import type { ToolOffer } from '../../graph/graph';
import type { PromptAnswer, PromptInput } from '../execution/activities';

/** One turn of a prompt whose model may call tools. */
export interface PromptTurnInput extends PromptInput {
  /** 1, 2 …: a turn that was answered is not asked again. */
  turn: number;
  /** The model is to answer, and may call nothing. */
  isLast: boolean;
  offers: ToolOffer[];
  /** All servers of the catalog. */
  servers: string[];
}

/** A call that a model asks for. */
export interface AskedCall {
  /** The model's id of it. */
  id: string;
  server: string;
  tool: string;
  arguments: Record<string, unknown>;
  /** Why it is not made; absent for one that is. */
  problem?: string;
}

/** An answer, or the calls that the model asks for before it answers. */
export interface PromptTurn extends PromptAnswer {
  calls: AskedCall[];
}

/** What came of a call, for the model. */
export interface ToolResultInput {
  runId: string;
  stageId: string;
  turn: number;
  /** The model's id of the call. */
  callId: string;
  /** What the tool responded, or why it was not called. */
  content: string;
  isError: boolean;
}
