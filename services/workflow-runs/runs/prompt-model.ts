import type { Usage } from './run';

export interface PromptRequest {
  prompt: string;
  system?: string;
  /** The default of the catalog when absent. */
  model?: string;
  maxTokens?: number;
}

export interface PromptAnswer {
  text: string;
  model: string;
  usage: Usage;
}

/** A model that was asked and did not answer; the message holds no secrets. */
export class PromptError extends Error {
  override readonly name = 'PromptError';

  constructor(
    message: string,
    /** Whether asking again may help. */
    readonly retryable: boolean,
  ) {
    super(message);
  }
}

/** Answers a prompt. @throws PromptError */
export type PromptModel = (request: PromptRequest, signal: AbortSignal) => Promise<PromptAnswer>;
