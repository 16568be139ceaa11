// SPDX-License-Identifier: Apache-2.0
//
// Speaks CalDAV by KDAV, the library of KOrganizer's DAV resource, for account_kdav.py.
//
//   account_kdav sync FOLDER            the calendars of the account, each a folder with its resources
//   account_kdav create URL FILE        and the same with `modify URL ETAG FILE` and `delete URL ETAG`
//
// KDAV_URL, KDAV_USER and KDAV_PASSWORD name the account. A folder has `.state`, the tags of what was read, and
// `.calendar`, what the server says of the calendar. An answer that refuses is printed with its code, and the status is 1.

#include <KDAV/DavCollectionsFetchJob>
#include <KDAV/DavItemCreateJob>
#include <KDAV/DavItemDeleteJob>
#include <KDAV/DavItemModifyJob>
#include <KDAV/DavItemsFetchJob>
#include <KDAV/DavItemsListJob>
#include <KDAV/DavUrl>
#include <KDAV/EtagCache>
#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QUrl>
#include <cstdio>
#include <cstdlib>
#include <memory>

using namespace KDAV;

static DavUrl address(const QString &url)
{
    QUrl full(url);
    full.setUserName(qEnvironmentVariable("KDAV_USER"));
    full.setPassword(qEnvironmentVariable("KDAV_PASSWORD"));
    return DavUrl(full, CalDav);
}

[[noreturn]] static void end(const QString &text)
{
    fprintf(stderr, "%s\n", qPrintable(text));
    std::exit(1);
}

template<typename Job> static void run(Job *job)
{
    job->setAutoDelete(false);
    if (!job->exec()) {
        end(QStringLiteral("%1 %2").arg(job->latestResponseCode()).arg(job->errorString()));
    }
}

static QJsonObject object(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

static void write(const QString &path, const QByteArray &text)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) {
        end(QStringLiteral("cannot write ") + path);
    }
}

static QString name(const QString &url)
{
    const QString path = QUrl(url).path(QUrl::FullyDecoded);
    return path.section(QLatin1Char('/'), -1, -1, QString::SectionSkipEmpty);
}

// The types of the contents that KOrganizer's resource asks a calendar for.
static QStringList types(DavCollection::ContentTypes contents)
{
    QStringList found;
    if (contents & DavCollection::Events) {
        found << QStringLiteral("application/x-vnd.akonadi.calendar.event");
    }
    if (contents & DavCollection::Todos) {
        found << QStringLiteral("application/x-vnd.akonadi.calendar.todo");
    }
    if (contents & DavCollection::Journal) {
        found << QStringLiteral("application/x-vnd.akonadi.calendar.journal");
    }
    return found;
}

static void synchronize(const DavCollection &calendar, const QDir &folder)
{
    QJsonObject state = object(folder.filePath(QStringLiteral(".state")));
    auto cache = std::make_shared<EtagCache>();
    for (const QString &url : state.keys()) {
        cache->setEtag(url, state[url].toString());
    }
    auto list = new DavItemsListJob(calendar.url(), cache);
    list->setContentMimeTypes(types(calendar.contentTypes()));
    run(list);
    for (const QString &url : list->deletedItems()) {
        QFile::remove(folder.filePath(name(url)));
        state.remove(url);
    }
    QStringList changed;
    for (const DavItem &item : list->changedItems()) {
        changed << item.url().toDisplayString();
    }
    if (!changed.isEmpty()) {
        auto fetch = new DavItemsFetchJob(calendar.url(), changed);
        run(fetch);
        for (const DavItem &item : fetch->items()) {
            const QString url = item.url().toDisplayString();
            write(folder.filePath(name(url)), item.data());
            state[url] = item.etag();
        }
    }
    write(folder.filePath(QStringLiteral(".state")), QJsonDocument(state).toJson());
}

static void synchronize(const QString &path)
{
    auto job = new DavCollectionsFetchJob(address(qEnvironmentVariable("KDAV_URL")));
    run(job);
    for (const DavCollection &calendar : job->collections()) {
        const QString url = calendar.url().toDisplayString();
        const QDir folder(path + QLatin1Char('/') + name(url));
        folder.mkpath(QStringLiteral("."));
        QJsonObject about;
        about[QStringLiteral("url")] = url;
        about[QStringLiteral("name")] = calendar.displayName();
        about[QStringLiteral("writes")] = bool(calendar.privileges() & (Write | WriteContent | All));
        about[QStringLiteral("ctag")] = calendar.CTag();
        write(folder.filePath(QStringLiteral(".calendar")), QJsonDocument(about).toJson());
        synchronize(calendar, folder);
    }
}

static DavItem item(const QString &url, const QString &path, const QString &etag = QString())
{
    QFile file(path);
    if (!path.isEmpty() && !file.open(QIODevice::ReadOnly)) {
        end(QStringLiteral("cannot read ") + path);
    }
    return DavItem(address(url), QStringLiteral("text/calendar"), path.isEmpty() ? QByteArray() : file.readAll(), etag);
}

int main(int count, char **values)
{
    QCoreApplication program(count, values);
    const QStringList words = program.arguments().mid(1);
    const QString command = words.value(0);
    if (command == QLatin1String("sync") && words.size() == 2) {
        synchronize(words[1]);
    } else if (command == QLatin1String("create") && words.size() == 3) {
        run(new DavItemCreateJob(item(words[1], words[2])));
    } else if (command == QLatin1String("modify") && words.size() == 4) {
        run(new DavItemModifyJob(item(words[1], words[3], words[2])));
    } else if (command == QLatin1String("delete") && words.size() == 3) {
        run(new DavItemDeleteJob(item(words[1], QString(), words[2])));
    } else {
        end(QStringLiteral("unknown: ") + words.join(QLatin1Char(' ')));
    }
    return 0;
}
