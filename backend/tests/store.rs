//! What a database must do to stand behind the three fences: one suite of cases, run against each
//! kind of database, and besides what is particular to one kind.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test that can't go on fails"
)]

mod store {
    pub(crate) mod claim;
    pub(crate) mod commit;
    pub(crate) mod corrupt;
    pub(crate) mod decide;
    pub(crate) mod erase;
    pub(crate) mod findings;
    pub(crate) mod fixture;
    pub(crate) mod ingress;
    pub(crate) mod keep;
    pub(crate) mod lease;
    pub(crate) mod lineage;
    pub(crate) mod migration;
    pub(crate) mod order;
    pub(crate) mod pause;
    pub(crate) mod postgres;
    pub(crate) mod postgres_fixture;
    pub(crate) mod reference;
    pub(crate) mod replay;
    pub(crate) mod rounds;
    pub(crate) mod sqlite;
    pub(crate) mod sqlite_fixture;
    pub(crate) mod switch;
    pub(crate) mod turns;
    pub(crate) mod view;
}

/// Makes a test of each case for one kind of database.
macro_rules! conformance {
    ($database:path => $($module:ident: { $($case:ident),+ $(,)? })+) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let db = <$database as crate::store::fixture::Database>::new().await;
                crate::store::$module::$case(&db).await;
            }
        )+)+
    };
}

/// The suite. A new kind of database is one more line below.
macro_rules! suite {
    ($name:ident, $database:path) => {
        mod $name {
            conformance! { $database =>
                ingress: {
                    a_report_is_accepted_once,
                    a_duplicate_writes_nothing,
                    other_content_is_recorded_once_per_content,
                    a_changed_mapping_is_refused,
                    a_hundred_deliveries_at_once_are_one_report,
                    a_caller_that_hangs_up_leaves_all_or_nothing,
                    versions_are_bound_on_first_use,
                    what_is_bound_is_told_without_binding,
                    a_source_is_bound_anew_only_by_a_person,
                }
                claim: {
                    twenty_workers_get_one_lease,
                    a_live_lease_is_not_granted_again,
                    nothing_due_says_how_long_to_wait,
                    the_job_that_is_due_longest_comes_first,
                    a_job_keeps_the_version_of_its_first_grant,
                    spent_attempts_go_to_review_without_a_grant,
                    a_job_whose_time_is_over_goes_to_review,
                    granting_another_job_supersedes_the_live_one,
                    numbers_beyond_two_to_the_31_and_53_keep_every_digit,
                }
                turns: {
                    one_among_a_thousand_is_served_within_two_claims,
                    tenants_take_turns_and_each_keeps_its_order,
                    a_tenant_is_served_beyond_many_who_wait,
                    pipelines_take_turns,
                    a_replayed_report_has_its_turn_too,
                    several_workers_serve_all_tenants,
                }
                lease: {
                    a_heartbeat_prolongs_the_lease,
                    a_takeover_raises_the_token_and_the_old_holder_loses,
                    a_lease_that_ran_out_may_still_commit,
                    the_same_token_with_another_nonce_loses,
                    a_raised_token_alone_makes_the_holder_lose,
                    an_answer_that_nobody_judged_is_used_again,
                    an_answer_with_a_verdict_is_not_used_again,
                }
                rounds: {
                    a_rejection_with_attempts_left_comes_back,
                    the_last_rejection_goes_to_review,
                    a_rejection_may_ask_for_a_person_at_once,
                    what_is_given_back_is_bounded,
                    a_kept_charge_spends_the_attempts,
                    failures_in_a_row_are_counted,
                }
                commit: {
                    a_commit_writes_everything,
                    a_commit_that_needs_a_person_opens_a_review,
                    committing_again_leaves_the_same_rows,
                    a_second_need_opens_the_review_again,
                    a_newer_schema_version_becomes_the_current_result,
                    a_failed_commit_leaves_nothing_half_written,
                    a_commit_whose_reply_was_lost_is_told_so,
                    a_caller_that_hangs_up_commits_all_or_nothing,
                }
                findings: {
                    a_list_is_committed_with_its_result,
                    a_result_that_is_no_list_has_no_findings,
                    a_list_committed_again_leaves_the_same_rows,
                    what_a_newer_answer_does_not_list_is_withdrawn,
                    an_empty_list_withdraws_all,
                    a_list_is_committed_whole_or_not_at_all,
                    a_caller_that_hangs_up_commits_a_whole_list_or_none,
                    two_findings_of_one_key_are_no_list,
                    an_older_token_changes_no_finding,
                    another_schema_version_has_findings_of_its_own,
                    a_person_writes_a_list_in_place_of_a_machines,
                    a_person_writes_a_list_where_there_was_none,
                    what_a_person_decided_about_stays,
                    a_thousand_findings_are_one_list,
                    erasing_forgets_what_was_found,
                }
                lineage: {
                    findings_are_followed_from_version_to_version,
                    an_empty_list_is_a_version_like_any_other,
                    a_version_without_a_result_is_passed_over,
                    what_was_withdrawn_before_is_not_gone_now,
                    an_order_says_which_version_is_before,
                    a_late_older_version_is_not_the_one_before,
                    another_thing_of_the_same_name_is_another,
                }
                order: {
                    a_newer_version_ends_what_nobody_has_begun,
                    a_late_older_version_is_stored_and_never_current,
                    a_newer_version_closes_the_review_item,
                    a_running_job_of_an_older_version_ends_without_a_person,
                    a_final_answer_of_an_older_version_is_kept,
                    a_lost_lease_of_an_older_version_is_not_granted_again,
                    without_an_order_nothing_is_called_current,
                    versions_that_come_at_once_have_one_current,
                }
                pause: {
                    a_refused_credential_keeps_its_jobs_back,
                    one_of_twenty_claims_is_the_probe,
                    an_answered_probe_ends_the_pause,
                    a_refused_probe_goes_on_with_the_pause,
                    a_probe_that_asks_nobody_is_still_to_be_made,
                    an_answer_from_before_a_pause_does_not_end_it,
                    a_quota_is_waited_for_as_long_as_the_provider_says,
                    the_clock_of_a_job_stands_still,
                    three_reports_in_a_row_pause_their_pipeline,
                    what_was_not_asked_is_not_counted,
                    an_answer_in_between_starts_the_count_again,
                    only_a_person_ends_a_persons_pause,
                    a_person_takes_a_pause_over,
                    a_pause_that_cannot_be_understood_keeps_nothing_back,
                }
                decide: {
                    accepting_makes_the_result_final_once,
                    nothing_can_be_accepted_where_there_is_none,
                    a_correction_is_the_result_even_where_there_was_none,
                    a_correction_for_another_schema_of_that_name_writes_nothing,
                    a_correction_under_a_newer_schema_retires_the_older,
                    a_dismissal_ends_without_an_announcement,
                    a_retry_has_another_budget,
                    a_stale_decision_writes_nothing,
                    nobody_decides_twice,
                    what_a_machine_finds_after_a_decision_is_a_candidate,
                    open_reviews_are_paged_longest_waiting_first,
                }
                reference: {
                    an_input_is_kept_once_and_never_replaced,
                    who_lost_the_lease_keeps_no_input,
                    a_forwarded_input_is_not_replaced_by_a_fetched_one,
                    a_duplicate_by_reference_is_no_conflict,
                    what_was_fetched_is_erased,
                    a_refused_token_is_paused_by_its_own_name,
                    who_need_not_fetch_probes_no_token,
                    who_fetches_with_another_token_probes_not_this_one,
                    time_stands_still_while_a_token_is_paused,
                }
                replay: {
                    a_hundred_replays_make_one_job,
                    a_replay_waits_for_its_grant_and_then_replaces_the_result,
                    a_replay_that_overtakes_a_running_job_is_never_replaced_by_it,
                    an_older_job_that_is_taken_over_leaves_the_replay_waiting,
                    a_replay_that_fails_asks_a_person_and_keeps_the_result,
                    a_replay_that_needs_a_person_raises_the_revision,
                    a_replay_that_is_final_closes_the_review,
                    a_failed_replay_of_a_decided_report_asks_nobody,
                    a_retry_while_a_replay_is_under_way_hands_over_to_it,
                    what_can_not_be_replayed_is_told,
                }
                keep: {
                    an_answer_is_emptied_and_its_attempt_stays,
                    an_answer_that_nobody_judged_is_kept,
                    each_pipeline_says_how_long,
                    more_than_a_page_is_looked_up_in_order,
                    a_row_that_can_not_be_understood_keeps_no_other_answer,
                    the_last_answer_comes_with_the_verdict_on_it,
                    how_long_a_call_took_is_kept,
                }
                erase: {
                    nothing_of_an_erased_report_is_in_any_table,
                    who_works_on_an_erased_report_writes_nothing,
                    a_redelivery_of_an_erased_report_is_a_duplicate,
                    erasing_again_changes_nothing,
                    an_erased_report_is_shown_without_what_it_was,
                    a_report_that_cannot_be_understood_can_be_erased,
                }
                corrupt: {
                    a_row_that_cannot_be_understood_is_set_aside,
                    an_unknown_state_hides_no_other_report,
                    a_job_that_cannot_be_bound_is_set_aside,
                    a_job_that_others_stand_in_the_way_of_is_set_aside,
                }
                switch: {
                    another_provider_is_asked_about_new_reports_alone,
                }
                view: {
                    a_list_is_paged_newest_first,
                    a_list_is_filtered,
                    stats_count_what_there_is,
                    an_unknown_report_is_not_there,
                    inputs_are_paged_newest_first_and_none_is_empty,
                }
            }
        }
    };
}

suite!(sqlite, crate::store::sqlite_fixture::Sqlite);
suite!(postgres, crate::store::postgres_fixture::Postgres);
suite!(pooled, crate::store::postgres_fixture::Pooled);
