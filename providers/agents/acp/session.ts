import type {
  AgentCapabilities,
  ClientCapabilities,
  InitializeResponse,
  McpServer,
  PromptResponse,
} from '@agentclientprotocol/sdk/unstable';
import type { AgentCommand } from '../../../contracts/runs/command';
import type { SessionOffer } from '../../../contracts/settings/session-offer';
import { compact } from '../../../platform/json/compact';
import { within } from '../../../platform/operations/within';
import type { AgentDispatch, Delivery, LiveAgent, UndeliveredReason } from '../provider';
import { authenticate } from './authenticate';
import type { AcpConnection } from './connection';
import { refusedLogin } from './failure';
import { handshake, handshakeMsOf } from './handshake';
import { continuationPrompt, promptOf } from './prompt';
import { chooseOptions } from './session-options';

/** How long an agent may take to open a session, in milliseconds: continuing one may replay it. */
const sessionMs = 120_000;
/** How long it may take to end a turn that was cancelled, before what was to follow is given up, in milliseconds. */
const turnEndMs = 10_000;

/** The events of a session in progress. */
export interface SessionEvents {
  /** Files and terminals that are offered to the agent. */
  readonly offered: ClientCapabilities;
  /** The tool servers that the session is given. @throws AcpFailure when the agent does not take them */
  toolServers(abilities: AgentCapabilities | undefined): McpServer[];
  opened(
    session: { sessionId: string; edge: 'started' | 'resumed' | 'followed-up' | 'forked' },
    offer: SessionOffer,
  ): Promise<void> | undefined;
  /** Everything the agent wrote in its turn has been recorded. */
  turnEnded(): Promise<void> | undefined;
}

/** How a session ended. */
export interface SessionEnd {
  stopReason: PromptResponse['stopReason'];
  /** What an operator had asked for when it did. */
  asked: 'interrupt' | 'close' | 'archive' | undefined;
}

interface SessionRequest {
  sessionId: string;
  cwd: string;
  mcpServers: McpServer[];
}

type SessionDispatch = Pick<AgentDispatch, 'agent' | 'transport' | 'worktreePath' | 'conversation' | 'requestedModel'>;

interface Prompt {
  text: string;
  settle: (delivery: Delivery) => void;
}

/**
 * One session with an agent: a prompt for each turn, while there are messages. A message that comes during a
 * turn ends that turn and begins the next one; an interrupt ends it and, with no more messages, the session.
 */
export class AcpSession implements LiveAgent {
  /** The agent's own name of the session, once it is open. */
  sessionId: string | undefined;
  abilities: AgentCapabilities | undefined;
  private introduction: InitializeResponse | undefined;
  /** Aborted when the current turn is cancelled: the agent then waits for no responses. */
  turnSignal: AbortSignal = AbortSignal.abort();
  private turn: { cancel: AbortController; over: Promise<unknown> } | undefined;
  private next: Prompt | undefined;
  private closing: ((delivery: Delivery) => void) | undefined;
  private asked: SessionEnd['asked'];
  private over = false;
  private readonly opening: Promise<void>;
  private opened: () => void = () => undefined;

  constructor(
    private readonly connection: AcpConnection,
    private readonly dispatch: SessionDispatch,
    private readonly events: SessionEvents,
  ) {
    this.opening = new Promise((resolve) => (this.opened = resolve));
  }

  /**
   * Holds the session to its end.
   *
   * @throws Error when the agent does not do its part: ends, responds with an error, or not at all
   */
  async hold(): Promise<SessionEnd> {
    try {
      const { agent } = this.dispatch;
      this.introduction = await handshake(this.connection, this.events.offered, handshakeMsOf(agent));
      this.abilities = this.introduction.agentCapabilities;
      await authenticate(this.connection, agent, this.introduction);
      const first = await this.open();
      this.opened();
      return await this.converse(first);
    } catch (error) {
      throw refusedLogin(error, this.dispatch.agent, this.introduction);
    } finally {
      this.over = true;
      this.opened();
      this.next?.settle(undelivered('agent-ended'));
      this.closing?.(undelivered('agent-ended'));
    }
  }

  /** Asks the agent to end its turn, and waits a while until it has. */
  async shutDown(withinMs: number): Promise<void> {
    const { turn } = this;
    await this.cancel();
    if (turn) {
      await within(withinMs, 'The turn did not end in time.', turn.over);
    }
  }

  async command(command: AgentCommand): Promise<Delivery> {
    await this.opening;
    if (this.over) {
      return undelivered('agent-ended');
    }
    switch (command.type) {
      case 'message':
      case 'steer':
        return this.prompt(command.message);
      case 'interrupt':
        return this.interrupt();
      case 'close':
      case 'archive':
        return this.close(command.type);
      case 'compact':
        return undelivered('not-supported');
    }
  }

  /** Opens the session and returns its first prompt. */
  private async open(): Promise<string> {
    const { transport, worktreePath: cwd, conversation } = this.dispatch;
    const late = 'The agent did not open a session in time.';
    const mcpServers = this.events.toolServers(this.abilities);
    if (!conversation) {
      const answer = this.connection.agent.request('session/new', { cwd, mcpServers });
      const response = await within(sessionMs, late, answer);
      this.sessionId = response.sessionId;
      await this.begin('started', this.sessionId, response);
      return promptOf(transport);
    }
    const { reference: sessionId } = conversation.continuation;
    const message = continuationPrompt(transport);
    if (message === undefined) {
      throw new Error('The continued session has no message.');
    }
    const request = { sessionId, cwd, mcpServers };
    if (conversation.edge === 'fork') {
      const forked = await within(sessionMs, late, this.fork(request, conversation.forkTurnId));
      this.sessionId = forked.sessionId;
      await this.begin('forked', this.sessionId, forked);
      return message;
    }
    const response = await within(sessionMs, late, this.continueSession(request));
    this.sessionId = sessionId;
    await this.begin(conversation.edge === 'resume' ? 'resumed' : 'followed-up', sessionId, response);
    return message;
  }

  /** Gives an open session its model and mode. One that continues and lists nothing has what it was given before. */
  private async begin(
    edge: 'started' | 'resumed' | 'followed-up' | 'forked',
    sessionId: string,
    response: unknown,
  ): Promise<void> {
    const { agent, requestedModel } = this.dispatch;
    const isListed = offersChoice(response);
    const chosen = edge === 'started' || isListed ? compact({ model: agent.model, mode: agent.mode }) : {};
    const isModelRequested = requestedModel !== undefined;
    const offer = await chooseOptions(this.connection, { sessionId, response }, { ...chosen, isModelRequested });
    await this.events.opened({ sessionId, edge }, offer);
  }

  private async fork(request: SessionRequest, turnId: string | undefined): Promise<{ sessionId: string }> {
    if (!this.abilities?.sessionCapabilities?.fork) {
      throw new Error('The agent does not fork sessions.');
    }
    // The protocol forks a session where it is.
    if (turnId !== undefined) {
      throw new Error('The agent can fork a session only at its end.');
    }
    return this.connection.agent.request<{ sessionId: string }>('session/fork', request);
  }

  private async continueSession(request: SessionRequest): Promise<unknown> {
    const { sessionId } = request;
    // One that was archived has to be taken from the archive first; for any other this changes nothing.
    if (this.abilities?.sessionCapabilities?.archive) {
      await this.connection.agent.request('session/unarchive', { sessionId });
    }
    if (this.abilities?.sessionCapabilities?.resume) {
      return this.connection.agent.request('session/resume', request);
    }
    if (this.abilities?.loadSession === true) {
      return this.connection.agent.request('session/load', request);
    }
    throw new Error('The agent does not resume sessions.');
  }

  /** Turn after turn, while there are messages. */
  private async converse(first: string): Promise<SessionEnd> {
    let prompt: Prompt = { text: first, settle: () => undefined };
    for (;;) {
      const { stopReason } = await this.take(prompt);
      await this.events.turnEnded();
      const { next } = this;
      this.next = undefined;
      if (!next) {
        this.over = true;
        if (this.closing) {
          await this.closeSession();
        }
        return { stopReason, asked: this.asked };
      }
      this.asked = undefined;
      prompt = next;
    }
  }

  private async take({ text, settle }: Prompt): Promise<PromptResponse> {
    const cancel = new AbortController();
    const response = this.connection.agent.request('session/prompt', {
      sessionId: this.sessionId ?? '',
      prompt: [{ type: 'text', text }],
    });
    this.turn = { cancel, over: response.catch(() => undefined) };
    this.turnSignal = cancel.signal;
    settle({ delivered: true });
    try {
      return await response;
    } finally {
      this.turn = undefined;
    }
  }

  private async interrupt(): Promise<Delivery> {
    this.asked = 'interrupt';
    try {
      await within(turnEndMs, 'The agent does not read.', this.cancel());
      return { delivered: true };
    } catch {
      return undelivered('agent-not-reading');
    }
  }

  /** Ends the current turn and begins the next one with the message. */
  private prompt(text: string): Promise<Delivery> {
    return this.settled((settle) => {
      const prompt = { text, settle };
      this.next = prompt;
      return () => {
        if (this.next === prompt) {
          this.next = undefined;
        }
      };
    });
  }

  private close(how: 'close' | 'archive'): Promise<Delivery> {
    if (!this.abilities?.sessionCapabilities?.[how]) {
      return Promise.resolve(undelivered('not-supported'));
    }
    this.asked = how;
    return this.settled((settle) => {
      this.closing = settle;
      return () => {
        this.closing = undefined;
      };
    });
  }

  /** Cancels the turn and waits until what is to follow on its end was settled, or the agent is too slow. */
  private async settled(begin: (settle: (delivery: Delivery) => void) => () => void): Promise<Delivery> {
    let giveUp: () => void = () => undefined;
    const delivery = new Promise<Delivery>((resolve) => (giveUp = begin(resolve)));
    void this.cancel();
    try {
      return await within(turnEndMs, 'The turn did not end in time.', delivery);
    } catch {
      giveUp();
      return undelivered('turn-not-ended');
    }
  }

  private async closeSession(): Promise<void> {
    const request = { sessionId: this.sessionId ?? '' };
    const { agent } = this.connection;
    // An archived session is closed by that.
    const closed: Promise<unknown> =
      this.asked === 'archive' ? agent.request('session/archive', request) : agent.request('session/close', request);
    await within(turnEndMs, 'The session was not closed in time.', closed);
    this.closing?.({ delivered: true });
  }

  private async cancel(): Promise<void> {
    if (!this.turn) {
      return;
    }
    this.turn.cancel.abort();
    // An agent that is gone fails the turn itself.
    await this.connection.agent.notify('session/cancel', { sessionId: this.sessionId ?? '' }).catch(() => undefined);
  }
}

/** Whether the response that opened a session lists what it offers. */
const offersChoice = (response: unknown): boolean =>
  typeof response === 'object' &&
  response !== null &&
  ['configOptions', 'models', 'modes'].some((name) => Boolean((response as Record<string, unknown>)[name]));

const undelivered = (reason: UndeliveredReason): Delivery => ({ delivered: false, reason });
