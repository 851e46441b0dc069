import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Attempt, board, type Schema, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { useKeys } from '../../ui/keys';
import { Panel } from '../../ui/parts';
import type { Submission } from '../../ui/submission';
import { toast } from '../../ui/toast';
import { isLive } from '../attempt-state';

interface ControlsProps {
  attempt: Attempt;
  status: Schema<'RunStatus'> | undefined;
}

type Command = 'interrupt' | 'compact';

/** What a run takes: each control that it does not take is disabled with the reason. */
export function Controls({ attempt, status }: ControlsProps) {
  const { taskId, id: attemptId } = attempt;
  const navigate = useNavigate();
  const forbidden = useForbidden();
  const [stopping, setStopping] = useState(false);
  const [message, setMessage] = useState('');
  const live = isLive(attempt);
  const refresh = () => void queryClient.invalidateQueries({ queryKey: keys.ofTask(taskId) });
  const path = { taskId };

  const stop = useMutation({
    mutationFn: () => unwrap(board.POST('/api/agents/{taskId}/stop', { params: { path }, body: { attemptId } })),
    onSuccess: () => {
      toast('The run was stopped. Its worktree and its log remain.');
      refresh();
    },
    onSettled: () => setStopping(false),
  });
  const command = useMutation({
    mutationFn: (name: Command) =>
      unwrap(
        name === 'interrupt'
          ? board.POST('/api/agents/{taskId}/conversation/interrupt', { params: { path }, body: { attemptId } })
          : board.POST('/api/agents/{taskId}/conversation/compact', { params: { path }, body: { attemptId } }),
      ),
    onSuccess: () => toast('The agent was asked to.'),
  });
  const send = useMutation({
    mutationFn: async (steer: boolean) => {
      const body = { attemptId, message };
      await unwrap(
        steer
          ? board.POST('/api/agents/{taskId}/conversation/steer', { params: { path }, body })
          : board.POST('/api/agents/{taskId}/message', { params: { path }, body }),
      );
    },
    onSuccess: () => setMessage(''),
  });
  const followUp = useMutation({
    mutationFn: () =>
      unwrap(
        board.POST('/api/agents/{taskId}/conversation/follow-up', {
          params: { path },
          body: { sourceAttemptId: attemptId, message },
        }),
      ),
    onSuccess: (launched) => {
      setMessage('');
      refresh();
      void navigate({ to: '/tasks/$taskId/runs/$attemptId', params: { taskId, attemptId: launched.attemptId } });
    },
  });

  /** Why a control is not there; undefined when it is. */
  const why = (action: string, needsLive: boolean, permission: string): string | undefined => {
    if (needsLive !== live) {
      return needsLive ? 'The run has ended.' : 'The run has not ended yet.';
    }
    const control =
      status?.attemptId === attemptId ? status.controls.controls.find((each) => each.action === action) : undefined;
    if (control && !control.available) {
      return control.reason ?? 'This agent does not support it.';
    }
    return forbidden(permission);
  };
  const whyStop = why('stop', true, 'agent:write');
  useKeys({ x: whyStop === undefined ? () => setStopping(true) : undefined });

  const whyMessage = live ? why('message', true, 'task:write') : why('follow-up', false, 'agent:write');
  const submit = (event: Submission) => {
    event.preventDefault();
    if (message.trim() === '') {
      return;
    }
    if (live) {
      send.mutate(false);
    } else {
      followUp.mutate();
    }
  };
  return (
    <Panel title="Controls">
      <div className="stack">
        {live ? (
          <div className="row wrap">
            <Button icon="stop" tone="danger" why={whyStop} onClick={() => setStopping(true)}>
              Stop
            </Button>
            <Button why={why('interrupt', true, 'task:write')} onClick={() => command.mutate('interrupt')}>
              Interrupt turn
            </Button>
            <Button why={why('compact', true, 'task:write')} onClick={() => command.mutate('compact')}>
              Compact
            </Button>
          </div>
        ) : null}
        <form className="stack" onSubmit={submit}>
          <label className="field">
            <span>{live ? 'Message to the agent' : 'Follow up in a new run'}</span>
            <textarea
              className="input"
              rows={3}
              disabled={whyMessage !== undefined}
              placeholder={whyMessage}
              value={message}
              onChange={(event) => setMessage(event.target.value)}
              onKeyDown={(event) => (event.metaKey || event.ctrlKey) && event.key === 'Enter' && submit(event)}
            />
          </label>
          <div className="row wrap">
            <Button
              type="submit"
              icon="send"
              why={whyMessage}
              disabled={message.trim() === ''}
              busy={send.isPending || followUp.isPending}
            >
              {live ? 'Send' : 'Follow up'}
            </Button>
            {live ? (
              <Button
                why={why('steer', true, 'task:write')}
                disabled={message.trim() === ''}
                title="The agent reads it at once"
                onClick={() => send.mutate(true)}
              >
                Steer
              </Button>
            ) : null}
          </div>
        </form>
      </div>
      {stopping ? (
        <Dialog label="Stop the run" onClose={() => setStopping(false)}>
          <div className="body">
            <h1>Stop the run?</h1>
            <p>The agent ends now. What it has written stays in the worktree, and a follow-up can continue from it.</p>
            <footer>
              <Button onClick={() => setStopping(false)}>Go on</Button>
              <Button tone="danger" icon="stop" autoFocus busy={stop.isPending} onClick={() => stop.mutate()}>
                Stop the run
              </Button>
            </footer>
          </div>
        </Dialog>
      ) : null}
    </Panel>
  );
}
