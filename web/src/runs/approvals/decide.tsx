import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { board, isRefusal, type RunApproval, type Schema, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { toast } from '../../ui/toast';

type Data = NonNullable<Schema<'RunApprovalDecision'>['responseData']>;

/** The JSON object of a text; undefined when it is none. */
function objectOf(text: string): Data | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : undefined;
  } catch {
    return undefined;
  }
}

/** Approves or rejects exactly the action that is displayed: its hash and revision go with the decision. */
export function Decide({ approval }: { approval: RunApproval }) {
  const forbidden = useForbidden()('admin:manage');
  const [note, setNote] = useState('');
  const [response, setResponse] = useState('');
  const isQuestion = approval.requestKind === 'elicitation';
  const responseData = isQuestion ? objectOf(response) : undefined;
  const decide = useMutation({
    mutationFn: (decision: 'approved' | 'rejected') =>
      unwrap(
        board.POST('/api/run-approvals/{approvalId}/decision', {
          params: { path: { approvalId: approval.id } },
          body: {
            decision,
            expectedActionHash: approval.actionHash,
            expectedRevision: approval.revision,
            ...(note.trim() === '' ? {} : { note: note.trim() }),
            ...(decision === 'approved' && responseData ? { responseData } : {}),
          },
        }),
      ),
    onSuccess: (decided) => {
      toast(
        decided.status === 'approved' ? 'Approved.' : 'Rejected.',
        decided.status === 'approved' ? 'green' : 'grey',
      );
      queryClient.setQueryData<RunApproval[]>(keys.approvals, (list) =>
        list?.map((each) => (each.id === decided.id ? decided : each)),
      );
    },
    onError: (error) => {
      if (isRefusal(error, 404, 409)) {
        void queryClient.invalidateQueries({ queryKey: keys.approvals });
      }
    },
  });
  const why = isQuestion && !responseData ? 'The agent asks for data: write it as a JSON object.' : forbidden;
  return (
    <div className="row wrap">
      {isQuestion ? (
        <textarea
          className="input mono"
          rows={3}
          aria-label="Response as a JSON object"
          placeholder='{"field": "value"}'
          value={response}
          onChange={(event) => setResponse(event.target.value)}
        />
      ) : null}
      <input
        className="input grow"
        aria-label="Note on the decision"
        placeholder="Note (optional)"
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      <Button icon="close" why={forbidden} busy={decide.isPending} onClick={() => decide.mutate('rejected')}>
        Reject
      </Button>
      <Button icon="check" tone="primary" why={why} busy={decide.isPending} onClick={() => decide.mutate('approved')}>
        Approve
      </Button>
    </div>
  );
}
