// SPDX-License-Identifier: Apache-2.0
#include "CFiles.h"

// Swift compiles an array of a file's bytes a hundred times more slowly than C does.
#pragma clang diagnostic ignored "-Wc23-extensions"
#define FILE(name) static const unsigned char name[] = {
#define END };

FILE(style_css)
#embed "../Pages/Styles/style.css"
END
FILE(en_words)
#embed "../Pages/Words/en.words"
END
FILE(de_words)
#embed "../Pages/Words/de.words"
END
FILE(es_words)
#embed "../Pages/Words/es.words"
END
FILE(fr_words)
#embed "../Pages/Words/fr.words"
END
FILE(it_words)
#embed "../Pages/Words/it.words"
END
FILE(nl_words)
#embed "../Pages/Words/nl.words"
END
FILE(pl_words)
#embed "../Pages/Words/pl.words"
END
FILE(pt_words)
#embed "../Pages/Words/pt.words"
END
FILE(options_texts)
#embed "../Pages/Words/options.texts"
END
FILE(choose_js)
#embed "../Pages/Scripts/choose.js"
END
FILE(copy_js)
#embed "../Pages/Scripts/copy.js"
END
FILE(dialog_js)
#embed "../Pages/Scripts/dialog.js"
END
FILE(drop_js)
#embed "../Pages/Scripts/drop.js"
END
FILE(preview_js)
#embed "../Pages/Scripts/preview.js"
END
FILE(progress_js)
#embed "../Pages/Scripts/progress.js"
END
FILE(account_mustache)
#embed "../Pages/Templates/account.mustache"
END
FILE(act_mustache)
#embed "../Pages/Templates/act.mustache"
END
FILE(activity_mustache)
#embed "../Pages/Templates/activity.mustache"
END
FILE(add_to_mustache)
#embed "../Pages/Templates/add-to.mustache"
END
FILE(admin_mustache)
#embed "../Pages/Templates/admin.mustache"
END
FILE(agenda_mustache)
#embed "../Pages/Templates/agenda.mustache"
END
FILE(alert_mustache)
#embed "../Pages/Templates/alert.mustache"
END
FILE(app_password_mustache)
#embed "../Pages/Templates/app-password.mustache"
END
FILE(app_passwords_mustache)
#embed "../Pages/Templates/app-passwords.mustache"
END
FILE(apple_mustache)
#embed "../Pages/Templates/apple.mustache"
END
FILE(arrival_mustache)
#embed "../Pages/Templates/arrival.mustache"
END
FILE(badge_mustache)
#embed "../Pages/Templates/badge.mustache"
END
FILE(bars_mustache)
#embed "../Pages/Templates/bars.mustache"
END
FILE(calendar_mustache)
#embed "../Pages/Templates/calendar.mustache"
END
FILE(cell_mustache)
#embed "../Pages/Templates/cell.mustache"
END
FILE(check_mustache)
#embed "../Pages/Templates/check.mustache"
END
FILE(circles_mustache)
#embed "../Pages/Templates/circles.mustache"
END
FILE(conflicts_mustache)
#embed "../Pages/Templates/conflicts.mustache"
END
FILE(connection_mustache)
#embed "../Pages/Templates/connection.mustache"
END
FILE(connectors_mustache)
#embed "../Pages/Templates/connectors.mustache"
END
FILE(devices_mustache)
#embed "../Pages/Templates/devices.mustache"
END
FILE(dialog_mustache)
#embed "../Pages/Templates/dialog.mustache"
END
FILE(empty_state_mustache)
#embed "../Pages/Templates/empty-state.mustache"
END
FILE(entry_chip_mustache)
#embed "../Pages/Templates/entry-chip.mustache"
END
FILE(erasure_mustache)
#embed "../Pages/Templates/erasure.mustache"
END
FILE(error_mustache)
#embed "../Pages/Templates/error.mustache"
END
FILE(facts_mustache)
#embed "../Pages/Templates/facts.mustache"
END
FILE(feed_agenda_mustache)
#embed "../Pages/Templates/feed-agenda.mustache"
END
FILE(feed_mustache)
#embed "../Pages/Templates/feed.mustache"
END
FILE(field_mustache)
#embed "../Pages/Templates/field.mustache"
END
FILE(form_mustache)
#embed "../Pages/Templates/form.mustache"
END
FILE(health_mustache)
#embed "../Pages/Templates/health.mustache"
END
FILE(import_mustache)
#embed "../Pages/Templates/import.mustache"
END
FILE(item_mustache)
#embed "../Pages/Templates/item.mustache"
END
FILE(layout_mustache)
#embed "../Pages/Templates/layout.mustache"
END
FILE(link_button_mustache)
#embed "../Pages/Templates/link-button.mustache"
END
FILE(month_day_mustache)
#embed "../Pages/Templates/month-day.mustache"
END
FILE(month_mustache)
#embed "../Pages/Templates/month.mustache"
END
FILE(navigation_entry_mustache)
#embed "../Pages/Templates/navigation-entry.mustache"
END
FILE(new_app_password_mustache)
#embed "../Pages/Templates/new-app-password.mustache"
END
FILE(office_days_mustache)
#embed "../Pages/Templates/office-days.mustache"
END
FILE(offers_mustache)
#embed "../Pages/Templates/offers.mustache"
END
FILE(parts_mustache)
#embed "../Pages/Templates/parts.mustache"
END
FILE(problems_mustache)
#embed "../Pages/Templates/problems.mustache"
END
FILE(progress_mustache)
#embed "../Pages/Templates/progress.mustache"
END
FILE(second_factor_mustache)
#embed "../Pages/Templates/second-factor.mustache"
END
FILE(sentence_mustache)
#embed "../Pages/Templates/sentence.mustache"
END
FILE(setting_mustache)
#embed "../Pages/Templates/setting.mustache"
END
FILE(sign_in_link_mustache)
#embed "../Pages/Templates/sign-in-link.mustache"
END
FILE(sign_in_mustache)
#embed "../Pages/Templates/sign-in.mustache"
END
FILE(stepper_mustache)
#embed "../Pages/Templates/stepper.mustache"
END
FILE(subscriptions_mustache)
#embed "../Pages/Templates/subscriptions.mustache"
END
FILE(sync_mustache)
#embed "../Pages/Templates/sync.mustache"
END
FILE(table_mustache)
#embed "../Pages/Templates/table.mustache"
END
FILE(time_mustache)
#embed "../Pages/Templates/time.mustache"
END
FILE(toast_mustache)
#embed "../Pages/Templates/toast.mustache"
END
FILE(common_passwords_txt)
#embed "../KalendsCore/People/Rules/Passwords/common-passwords.txt"
END
FILE(demo_json)
#embed "../../Samples/demo.json"
END
FILE(google_export_ics)
#embed "../../Samples/exports/google-export.ics"
END
FILE(outlook_export_ics)
#embed "../../Samples/exports/outlook-export.ics"
END
FILE(apple_export_ics)
#embed "../../Samples/exports/apple-export.ics"
END

#define ROW(name, bytes) {name, bytes, sizeof bytes}

static const struct kalends_file files[] = {
    ROW("style.css", style_css),
    ROW("en.words", en_words),
    ROW("de.words", de_words),
    ROW("es.words", es_words),
    ROW("fr.words", fr_words),
    ROW("it.words", it_words),
    ROW("nl.words", nl_words),
    ROW("pl.words", pl_words),
    ROW("pt.words", pt_words),
    ROW("options.texts", options_texts),
    ROW("choose.js", choose_js),
    ROW("copy.js", copy_js),
    ROW("dialog.js", dialog_js),
    ROW("drop.js", drop_js),
    ROW("preview.js", preview_js),
    ROW("progress.js", progress_js),
    ROW("account.mustache", account_mustache),
    ROW("act.mustache", act_mustache),
    ROW("activity.mustache", activity_mustache),
    ROW("add-to.mustache", add_to_mustache),
    ROW("admin.mustache", admin_mustache),
    ROW("agenda.mustache", agenda_mustache),
    ROW("alert.mustache", alert_mustache),
    ROW("app-password.mustache", app_password_mustache),
    ROW("app-passwords.mustache", app_passwords_mustache),
    ROW("apple.mustache", apple_mustache),
    ROW("arrival.mustache", arrival_mustache),
    ROW("badge.mustache", badge_mustache),
    ROW("bars.mustache", bars_mustache),
    ROW("calendar.mustache", calendar_mustache),
    ROW("cell.mustache", cell_mustache),
    ROW("check.mustache", check_mustache),
    ROW("circles.mustache", circles_mustache),
    ROW("conflicts.mustache", conflicts_mustache),
    ROW("connection.mustache", connection_mustache),
    ROW("connectors.mustache", connectors_mustache),
    ROW("devices.mustache", devices_mustache),
    ROW("dialog.mustache", dialog_mustache),
    ROW("empty-state.mustache", empty_state_mustache),
    ROW("entry-chip.mustache", entry_chip_mustache),
    ROW("erasure.mustache", erasure_mustache),
    ROW("error.mustache", error_mustache),
    ROW("facts.mustache", facts_mustache),
    ROW("feed-agenda.mustache", feed_agenda_mustache),
    ROW("feed.mustache", feed_mustache),
    ROW("field.mustache", field_mustache),
    ROW("form.mustache", form_mustache),
    ROW("health.mustache", health_mustache),
    ROW("import.mustache", import_mustache),
    ROW("item.mustache", item_mustache),
    ROW("layout.mustache", layout_mustache),
    ROW("link-button.mustache", link_button_mustache),
    ROW("month-day.mustache", month_day_mustache),
    ROW("month.mustache", month_mustache),
    ROW("navigation-entry.mustache", navigation_entry_mustache),
    ROW("new-app-password.mustache", new_app_password_mustache),
    ROW("office-days.mustache", office_days_mustache),
    ROW("offers.mustache", offers_mustache),
    ROW("parts.mustache", parts_mustache),
    ROW("problems.mustache", problems_mustache),
    ROW("progress.mustache", progress_mustache),
    ROW("second-factor.mustache", second_factor_mustache),
    ROW("sentence.mustache", sentence_mustache),
    ROW("setting.mustache", setting_mustache),
    ROW("sign-in-link.mustache", sign_in_link_mustache),
    ROW("sign-in.mustache", sign_in_mustache),
    ROW("stepper.mustache", stepper_mustache),
    ROW("subscriptions.mustache", subscriptions_mustache),
    ROW("sync.mustache", sync_mustache),
    ROW("table.mustache", table_mustache),
    ROW("time.mustache", time_mustache),
    ROW("toast.mustache", toast_mustache),
    ROW("common-passwords.txt", common_passwords_txt),
    ROW("demo.json", demo_json),
    ROW("google-export.ics", google_export_ics),
    ROW("outlook-export.ics", outlook_export_ics),
    ROW("apple-export.ics", apple_export_ics),
};

struct kalends_file kalends_file_at(int number) {
    if (number < 0 || (size_t)number >= sizeof files / sizeof *files) return (struct kalends_file){NULL, NULL, 0};
    return files[number];
}
