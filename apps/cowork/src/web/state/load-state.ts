/** Something that is being loaded, was loaded, or could not be. What was shown stays while it is loaded again. Pure. */
import type { KeepupError } from "@ku0/agent-runtime-core"

export interface LoadState<Data> {
  readonly data: Data | undefined
  readonly error: KeepupError | undefined
  readonly isLoading: boolean
}

export type LoadAction<Data> =
  | { readonly type: "asked"; readonly keep: Data | undefined }
  | { readonly type: "answered"; readonly data: Data }
  | { readonly type: "failed"; readonly error: KeepupError }
  | { readonly type: "changed"; readonly change: (data: Data) => Data }

export function reduceLoad<Data>(state: LoadState<Data>, action: LoadAction<Data>): LoadState<Data> {
  switch (action.type) {
    case "asked":
      return { data: action.keep, error: undefined, isLoading: true }
    case "answered":
      return { data: action.data, error: undefined, isLoading: false }
    case "failed":
      return { ...state, error: action.error, isLoading: false }
    case "changed":
      return state.data === undefined ? state : { ...state, data: action.change(state.data) }
  }
}
