import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { board, type LineComment, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { count } from '../../ui/figures';
import { Icon } from '../../ui/icon';
import { useKeys } from '../../ui/keys';
import { Badge, Problem } from '../../ui/parts';
import type { Submission } from '../../ui/submission';
import { Ago } from '../../ui/time';
import { toast } from '../../ui/toast';
import { reviewQuery } from '../queries';
import s from './diff.module.css';

interface ReviewBarProps {
  taskId: string;
  comments: readonly LineComment[];
}

const labels = {
  pending: ['Waits for review', 'amber'],
  accepting: ['Being accepted', 'blue'],
  'awaiting-merge': ['Awaits the merge of its pull request', 'blue'],
  accepted: ['Accepted', 'green'],
  'sent-back': ['Sent back', 'grey'],
  superseded: ['Superseded', 'grey'],
} as const;

type Opened = 'accept' | 'send-back' | undefined;

/** Accepts the result of a run, or sends it back with a message and the open comments. */
export function ReviewBar({ taskId, comments }: ReviewBarProps) {
  const { data } = useQuery(reviewQuery(taskId));
  const [opened, setOpened] = useState<Opened>();
  const forbidden = useForbidden()('agent:write');
  const review = data?.review;
  const attemptId = review?.attemptId;
  const canDecide = review?.state === 'pending' && attemptId !== undefined && forbidden === undefined;
  useKeys({
    a: canDecide ? () => setOpened('accept') : undefined,
    r: canDecide ? () => setOpened('send-back') : undefined,
  });
  if (!review?.state) {
    return null;
  }
  const [label, tone] = labels[review.state];
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      {review.pullRequest ? (
        <a href={review.pullRequest.url} target="_blank" rel="noopener noreferrer">
          #{review.pullRequest.number}
        </a>
      ) : null}
      {review.state === 'pending' && attemptId !== undefined ? (
        <>
          <Button icon="back" why={forbidden} onClick={() => setOpened('send-back')}>
            Send back
          </Button>
          <Button icon="check" tone="primary" why={forbidden} onClick={() => setOpened('accept')}>
            Accept
          </Button>
        </>
      ) : null}
      {review.problem ? (
        <p className={`notice ${s.problem}`}>
          <Icon name="alert" />
          <span className="grow">
            {review.problem.message} <Ago at={review.problem.at} />
          </span>
        </p>
      ) : null}
      {opened === 'accept' && attemptId !== undefined ? (
        <Accept
          taskId={taskId}
          attemptId={attemptId}
          delivery={data?.delivery ?? 'merge'}
          onClose={() => setOpened(undefined)}
        />
      ) : null}
      {opened === 'send-back' && attemptId !== undefined ? (
        <SendBack
          taskId={taskId}
          attemptId={attemptId}
          open={comments.filter(({ state }) => state === 'open')}
          onClose={() => setOpened(undefined)}
        />
      ) : null}
    </>
  );
}

interface DecisionProps {
  taskId: string;
  attemptId: string;
  onClose: () => void;
}

const refresh = (taskId: string) =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: keys.ofTask(taskId) }),
    queryClient.invalidateQueries({ queryKey: keys.task(taskId) }),
    queryClient.invalidateQueries({ queryKey: keys.tasks }),
  ]);

const deliveries = {
  merge: 'Merge it into its base. What is not committed is committed first, and the task is done.',
  'pull-request': 'Push the branch and open a pull request. The task is done when it is merged.',
  none: 'Deliver nothing: only complete the task.',
};

type Delivery = keyof typeof deliveries;

function Accept({ taskId, attemptId, delivery: usual, onClose }: DecisionProps & { delivery: Delivery }) {
  const [delivery, setDelivery] = useState(usual);
  const accept = useMutation({
    meta: { silent: true },
    mutationFn: () =>
      unwrap(
        board.POST('/api/tasks/{taskId}/review/accept', {
          params: { path: { taskId } },
          body: { attemptId, delivery },
        }),
      ),
    onSuccess: async ({ review }) => {
      toast(review?.state === 'accepted' ? 'Accepted. The task is done.' : 'Accepted.', 'green');
      onClose();
      await refresh(taskId);
    },
    onError: () => void refresh(taskId),
  });
  return (
    <Dialog label="Accept the result" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          accept.mutate();
        }}
      >
        <h1>Accept the result</h1>
        <fieldset className={s.choices}>
          <legend className="sr">Delivery</legend>
          {(Object.keys(deliveries) as Delivery[]).map((name) => (
            <label key={name} className="row">
              <input type="radio" name="delivery" checked={delivery === name} onChange={() => setDelivery(name)} />
              <span>{deliveries[name]}</span>
            </label>
          ))}
        </fieldset>
        {accept.error ? <Problem error={accept.error} /> : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" icon="check" autoFocus busy={accept.isPending}>
            Accept
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function SendBack({ taskId, attemptId, open, onClose }: DecisionProps & { open: readonly LineComment[] }) {
  const navigate = useNavigate();
  const [message, setMessage] = useState('');
  const sendBack = useMutation({
    meta: { silent: true },
    mutationFn: () =>
      unwrap(
        board.POST('/api/tasks/{taskId}/review/send-back', {
          params: { path: { taskId } },
          body: { attemptId, ...(message.trim() === '' ? {} : { message: message.trim() }) },
        }),
      ),
    onSuccess: async (sent) => {
      toast('Sent back to the agent.', 'green');
      onClose();
      await refresh(taskId);
      await navigate({ to: '/tasks/$taskId/runs/$attemptId', params: { taskId, attemptId: sent.launch.attemptId } });
    },
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    sendBack.mutate();
  };
  return (
    <Dialog label="Send back" onClose={onClose}>
      <form onSubmit={submit}>
        <h1>Send back to the agent</h1>
        <p>
          {open.length === 0
            ? 'There are no open comments: the agent gets your message.'
            : `The agent gets your message and ${count(open.length, 'open comment')}.`}
        </p>
        <label className="field">
          <span>Message</span>
          <textarea
            className="input"
            rows={4}
            autoFocus
            required={open.length === 0}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        </label>
        {sendBack.error ? <Problem error={sendBack.error} /> : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" icon="back" busy={sendBack.isPending}>
            Send back
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
